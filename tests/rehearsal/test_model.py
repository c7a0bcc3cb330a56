"""The scripted model through LangChain's own doors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain_core.exceptions import ModelAPIError
from langchain_core.messages import AIMessage, HumanMessage

from wakeful.errors import RetryLater
from wakeful.rehearsal.model import Rehearsal

SCRIPT = """
[[turn]]
when = 'look at (?P<what>.+)'
steps = [
  { calls = [
    { call = "task", args = { subagent_type = "general-purpose", description = "see {what}" } },
    { call = "write_file", args = { file_path = "/{what}.md", content = "{what}" } },
  ] },
  { say = "{result1}" },
]

[[turn]]
agent = "general-purpose"
when = 'see (.+)'
steps = [{ say = "{1} is fine." }]

[[turn]]
when = 'fail (\\w+)'
steps = [{ fail = "outage" }]

[[turn]]
when = 'busy'
steps = [{ fail = "rate-limit", after = 120 }]

[[turn]]
when = 'cut'
steps = [{ fail = "cut-off", say = "one two three four" }]
"""


@pytest.fixture
def model(tmp_path: Path) -> Rehearsal:
    (tmp_path / "rehearsal.toml").write_text(SCRIPT)
    return Rehearsal(script=str(tmp_path / "rehearsal.toml"))


async def test_an_answer_has_text_usage_and_a_reason(model: Rehearsal) -> None:
    answer = await model.ainvoke("anything")
    assert answer.text.endswith("You said: anything")
    assert answer.usage_metadata and answer.usage_metadata["output_tokens"] > 0
    assert answer.response_metadata["finish_reason"] == "stop"
    assert model.invoke("anything").text == answer.text


async def test_a_stream_gives_the_same_answer_in_pieces(model: Rehearsal) -> None:
    whole = await model.ainvoke("look at tea")
    pieces = [chunk async for chunk in model.astream("look at tea")]
    assert len(pieces) > 2
    joined = pieces[0]
    for piece in pieces[1:]:
        joined += piece
    assert [(c["name"], c["args"]) for c in joined.tool_calls] == [
        (c["name"], c["args"]) for c in whole.tool_calls
    ]
    assert joined.usage_metadata == whole.usage_metadata
    words = [chunk.text async for chunk in model.astream("hear me out")]
    assert len(words) > 5
    assert "".join(words) == (await model.ainvoke("hear me out")).text


@pytest.mark.parametrize("streamed", [False, True])
async def test_it_plays_a_deep_agent_with_a_sub_agent(model: Rehearsal, streamed: bool) -> None:
    graph: Any = create_deep_agent(model)
    given: dict[str, Any] = {"messages": [HumanMessage("look at tea", id="ev-1")]}
    messages: list[Any] = []
    if streamed:
        async for mode, state in graph.astream(given, stream_mode=["messages", "values"]):
            messages = state["messages"] if mode == "values" else messages
    else:
        messages = (await graph.ainvoke(given))["messages"]
    assert isinstance(messages[-1], AIMessage)
    assert messages[-1].text == "tea is fine."


async def test_faults_arrive_as_a_provider_s_own(model: Rehearsal) -> None:
    with pytest.raises(ModelAPIError):
        await model.ainvoke("fail now")
    with pytest.raises(RetryLater) as caught:
        await model.ainvoke("busy")
    assert caught.value.after == 120
    cut = await model.ainvoke("cut")
    assert cut.response_metadata["finish_reason"] == "length"
    assert "four" not in cut.text


def test_an_edited_script_is_read_again(model: Rehearsal) -> None:
    assert model.script
    path = Path(model.script)
    path.write_text("[[turn]]\nwhen = '.'\nsteps = [{ say = \"new\" }]\n")
    os.utime(path, (1, 1))
    assert model.invoke("cut").text == "new"
