from __future__ import annotations

from wakeful.plugs.subagents import read_subagent


def said(text: str) -> list[str]:
    spec, faults = read_subagent("r", text, "subagents/r.md")
    assert spec is None
    return [str(fault) for fault in faults]


def test_a_subagent() -> None:
    head = "description: Looks things up.\ntools: [fetch, grep]\nmodel: openai:x\n"
    text = f"---\n{head}---\nYou look.\n"
    spec, faults = read_subagent("r", text, "subagents/r.md")
    assert faults == []
    assert spec is not None
    assert (spec.name, spec.description, spec.prompt) == ("r", "Looks things up.", "You look.")
    assert (spec.tools, spec.model) == (("fetch", "grep"), "openai:x")


def test_tools_as_one_line_none_at_all_and_all() -> None:
    for written, meant in (("tools: a, b\n", ("a", "b")), ("tools: []\n", ()), ("", None)):
        spec, _ = read_subagent("r", f"---\ndescription: D\n{written}---\nYou.", "f")
        assert spec is not None and spec.tools == meant


def test_faults_all_at_once() -> None:
    assert said("---\ndescripton: D\nmodel: 3\n---\nYou.") == [
        "subagents/r.md: description: this setting is needed",
        "subagents/r.md:3: model: write a text, in quotes",
        'subagents/r.md:2: descripton: there is no setting "descripton";'
        ' did you mean "description"?',
    ]
    assert said("You.") == [
        'subagents/r.md:1: the file must begin with a line "---" and its settings'
    ]
    assert "write its prompt" in said("---\ndescription: D\n---\n")[0]
