from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

from wakeful.config import Settings
from wakeful.plugs.crosscheck import NOBODY, crosscheck
from wakeful.plugs.values import ChannelPlug, Snapshot, SubAgentSpec, ToolPlug
from wakeful.schedule import Rule
from wakeful.tool import Traits


def said(**parts: object) -> list[str]:
    return faults(Settings(model="rehearsal"), **parts)


def faults(settings: Settings, **parts: object) -> list[str]:
    snapshot = Snapshot(digest="d", settings=settings, **parts)  # type: ignore[arg-type]
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


def test_approvals_name_what_is_there_and_hooks_have_somebody_to_ask() -> None:
    approvals = {
        "tools": {"refnd": "always", "write_file": "always"},
        "channels": {"schedule": "once", "slak": "always"},
        "escalate_to": ["slack:#boss"],
    }
    plug = ToolPlug(
        name="refund",
        function=len,
        traits=Traits(approve="always"),
        module=ModuleType("x"),
        file="tools/x.py",
    )
    rules = (Rule(name="a", every=1, prompt="P", file="schedules/a.md"),)
    parts: dict[str, Any] = {"tools": (plug,), "schedules": rules}
    parts["channels"] = {"console": channel("console")}
    faulty = Settings(model="rehearsal", approvals=approvals)  # type: ignore[arg-type]
    assert faults(faulty, **parts) == [
        'agent.toml: approvals.tools.refnd: there is no tool "refnd"; did you mean "refund"?',
        'agent.toml: approvals.channels.slak: there is no channel "slak"; there are: console, '
        "schedule",
        'agent.toml: approvals.escalate_to: there is no channel "slack"; there are: console',
        f"agent.toml: approvals: {NOBODY}",
    ]
    routed = Settings(model="rehearsal", approvals={"route": ["console:ops"]})  # type: ignore[arg-type]
    assert faults(routed, **parts) == []
    assert faults(Settings(model="rehearsal"), tools=(plug,)) == []  # nothing runs unattended
