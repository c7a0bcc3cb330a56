"""Tools as the model sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from tests.agent.kit import Clock, Scripted, world
from wakeful.agent.contracts import Contract, contracts
from wakeful.config import Settings
from wakeful.events import Fault
from wakeful.plugs import Folder

TOOL = '''
from typing import Annotated

from pydantic import Field

from wakeful.tool import Call


def book(call: Call, account: int, note: Annotated[str, Field(description="a word on it")]) -> str:
    """Book an amount on an account of the shop.

    Args:
        account: the number of the account.
    """
    return ""
'''


class Hearing(Scripted):
    """Keeps what it was told of its tools."""

    _wire: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        self._wire = [convert_to_openai_tool(each)["function"] for each in tools]
        return super().bind_tools(tools, **kwargs)


async def looked(folder: Path, **files: str) -> tuple[dict[str, Contract], list[Fault]]:
    for name, text in files.items():
        (folder / "tools").mkdir(exist_ok=True)
        (folder / "tools" / f"{name}.py").write_text(text)
    tools, faults = await contracts(Folder(folder, Settings(model="scripted")).scan(), Clock())
    return {tool.name: tool for tool in tools}, faults


async def test_they_are_what_a_model_gets_in_a_run_word_for_word(tmp_path: Path) -> None:
    shown, faults = await looked(tmp_path, shop=TOOL)
    model = Hearing(say=lambda messages: AIMessage("ok"))
    async with world(tmp_path, model.say, model=model) as w:
        await w.turn("hello")
    assert [
        {"name": t.name, "description": t.description, "parameters": t.parameters}
        for t in shown.values()
    ] == model._wire
    assert faults == []


async def test_a_tool_of_the_folder_names_its_file_and_hides_what_is_not_the_models(
    tmp_path: Path,
) -> None:
    shown, _ = await looked(tmp_path, shop=TOOL)
    assert shown["book"].file == "tools/shop.py"
    assert shown["book"].description == "Book an amount on an account of the shop."
    assert shown["book"].parameters["properties"] == {
        "account": {"description": "the number of the account.", "type": "integer"},
        "note": {"description": "a word on it", "type": "string"},
    }
    assert {"read_file", "write_todos", "task", "send"} <= set(shown)
    assert "execute" not in shown  # there is no sandbox, so no model is told of it


async def test_a_tool_of_which_no_schema_can_be_made_hides_no_other(tmp_path: Path) -> None:
    odd = 'def odd(lock: type(open)) -> str:\n    """Take a lock and hold it."""\n    return ""\n'
    shown, faults = await looked(tmp_path, shop=TOOL, odd=odd)
    assert "book" in shown and "odd" not in shown
    assert [(fault.file, fault.key, fault.warning) for fault in faults] == [
        ("tools/odd.py", "odd", False)
    ]
    assert "no model can be told of its arguments" in faults[0].message


async def test_it_leaves_the_folder_alone(tmp_path: Path) -> None:
    await looked(tmp_path, shop=TOOL)
    assert names_below(tmp_path) == {"tools", "shop.py"}


def names_below(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if "__pycache__" not in path.parts}
