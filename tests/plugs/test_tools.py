from __future__ import annotations

from pathlib import Path

from wakeful.events import Fault
from wakeful.plugs.modules import load_module
from wakeful.plugs.tools import parameters, tools_of
from wakeful.plugs.values import ToolPlug
from wakeful.tool import Traits

HEAD = "from wakeful.tool import Call, tool\n"
GOOD = '''
@tool(effect="read", approve="always")
async def look(call: Call, order: str, most: int = 3) -> str:
    """Look an order up.

    Args:
        order: its number.
        most: how many.
    """
    return order
'''


def read(folder: Path, text: str) -> tuple[list[ToolPlug], list[Fault]]:
    path = folder / "a.py"
    path.write_text(HEAD + text)
    return tools_of(load_module("tools", "a", path), "tools/a.py")


def said(folder: Path, text: str) -> list[str]:
    return [str(fault) for fault in read(folder, text)[1]]


def test_a_public_function_is_a_tool(tmp_path: Path) -> None:
    [plug], faults = read(tmp_path, GOOD)
    assert faults == []
    assert (plug.name, plug.traits) == ("look", Traits("read", "always"))
    assert parameters(plug.function) == {"order": str, "most": int}


def test_what_is_no_tool(tmp_path: Path) -> None:
    text = (
        "from textwrap import dedent\nimport os\n"
        "def _helper(): pass\nclass Thing: pass\nCONSTANT = 1\nalias = None\n"
    )
    tools, [fault] = read(tmp_path, text + GOOD.replace("def look", "def _look"))
    assert tools == []
    assert fault.warning and "no public function" in fault.message


def test_once_is_the_default(tmp_path: Path) -> None:
    [plug], _ = read(tmp_path, 'def pay() -> str:\n    """Pay."""\n    return "x"\n')
    assert plug.traits == Traits("once", "never")


def test_all_restricts(tmp_path: Path) -> None:
    tools, _ = read(
        tmp_path, GOOD + '\ndef other() -> None:\n    """Other."""\n__all__ = ["other"]\n'
    )
    assert [plug.name for plug in tools] == ["other"]


def test_an_alias_is_not_a_second_tool(tmp_path: Path) -> None:
    tools, _ = read(tmp_path, GOOD + "\nsearch = look\n")
    assert [plug.name for plug in tools] == ["look"]


def test_what_the_model_could_not_use(tmp_path: Path) -> None:
    text = """
def bare(x, *rest: int, **more: int): pass
def lost(x: "Nowhere") -> str:
    '''Lost.'''
def task(x: int) -> str:
    '''Taken.

    Args:
        x: a number.
    '''
"""
    assert said(tmp_path, text) == [
        "tools/a.py:3: bare: it needs a docstring: that is all the model knows of it",
        'tools/a.py:3: bare: "x" needs a type',
        'tools/a.py:3: bare: "rest" must be an ordinary argument, without * or /',
        'tools/a.py:3: bare: "more" must be an ordinary argument, without * or /',
        "tools/a.py:4: lost: its types cannot be read: name 'Nowhere' is not defined",
        "tools/a.py:6: task: every agent has a tool of this name already; rename it",
    ]


def test_an_argument_without_a_word_is_a_warning(tmp_path: Path) -> None:
    tools, [fault] = read(tmp_path, 'def f(x: int) -> str:\n    """Do."""\n    return ""\n')
    assert [plug.name for plug in tools] == ["f"]
    assert fault.warning and 'describe "x"' in fault.message


def test_a_trait_that_is_none(tmp_path: Path) -> None:
    mark = '@tool(effect="onse", approve="perhaps")\n'
    text = f'{mark}def pay() -> str:\n    """Pay."""\n    return ""\n'
    effect, approve = said(tmp_path, text)
    assert effect.endswith('pay: effect: there is no value "onse"; did you mean "once"?')
    assert approve.endswith('pay: approve: there is no value "perhaps"; there are: always, never')


def test_the_argument_of_egress_is_an_address(tmp_path: Path) -> None:
    look = GOOD.replace('approve="always"', 'egress="{}", outside=True')
    [plug], faults = read(tmp_path, look.format("order"))
    assert (faults, plug.traits) == ([], Traits("read", egress="order", outside=True))
    for name in ("url", "most"):
        [wrong] = said(tmp_path, look.format(name))
        assert f'egress = "{name}" must name an argument of type str' in wrong
