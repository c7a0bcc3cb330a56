from __future__ import annotations

from types import SimpleNamespace

from wakeful.config import Settings
from wakeful.plugs.crosscheck import crosscheck
from wakeful.plugs.values import ChannelPlug, Snapshot, SubAgentSpec
from wakeful.schedule import Rule


def said(**parts: object) -> list[str]:
    snapshot = Snapshot(digest="d", settings=Settings(model="rehearsal"), **parts)  # type: ignore[arg-type]
    return [str(fault) for fault in crosscheck(snapshot)]


def channel(name: str, **settings: object) -> ChannelPlug:
    return ChannelPlug(
        name=name,
        module=SimpleNamespace(),
        settings=settings,
        file=f"channels/{name}.toml",
        use=name,
        lines={("deliver",): 3},
    )


def test_tools_that_a_subagent_names() -> None:
    spec = SubAgentSpec(
        name="r", description="D", prompt="P", tools=("grep", "grp", "task"), file="subagents/r.md"
    )
    assert said(subagents=(spec,)) == [
        'subagents/r.md: tools: there is no tool "grp"; did you mean "grep"?',
        'subagents/r.md: tools: a subagent cannot have "task": it starts no others',
    ]


def test_channels_that_a_schedule_or_a_hook_delivers_to() -> None:
    rules = (
        Rule(name="a", every=1, deliver="consle:reports", file="schedules/a.md"),
        Rule(name="b", every=1, deliver="console:reports", file="schedules/b.md"),
        Rule(name="c", every=1, file="schedules/c.md"),
    )
    channels = {
        "console": channel("console"),
        "ci": channel("ci", deliver="slack:#ops"),
        "cd": channel("cd", deliver="{{ payload.x }}:y"),
    }
    assert said(schedules=rules, channels=channels) == [
        'schedules/a.md: deliver: there is no channel "consle"; did you mean "console"?',
        'channels/ci.toml:3: deliver: there is no channel "slack"; there are: cd, ci, console',
    ]
