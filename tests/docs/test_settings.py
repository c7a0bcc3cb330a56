"""The reference of agent.toml says what the settings model says: every key, every default."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from tests.docs.reading import ROOT, table_below
from wakeful.config import Settings
from wakeful.plugs import Folder
from wakeful.plugs.schedules import KEYS

PAGE = ROOT / "docs/agent-folder.md"
TABLES = {
    name: field.annotation
    for name, field in Settings.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
}


def shown(value: Any) -> str:
    """A default as the docs write it."""
    if value is None:
        return "none"
    if isinstance(value, tuple):
        value = list(value)
    return f"`{json.dumps(value)}`"


def defaults(model: type[BaseModel], *, without: set[str] = frozenset()) -> dict[str, str]:  # type: ignore[assignment]
    fields = {name: field for name, field in model.model_fields.items() if name not in without}
    return {
        name: "" if field.is_required() else shown(field.get_default(call_default_factory=True))
        for name, field in fields.items()
    }


def test_the_top_of_the_file() -> None:
    told = {key: cells[0] for key, cells in table_below(PAGE, "### Settings").items()}
    assert told == defaults(Settings, without=set(TABLES))


@pytest.mark.parametrize("name", TABLES)
def test_each_table(name: str) -> None:
    model = TABLES[name]
    assert model is not None
    told = {key: cells[0] for key, cells in table_below(PAGE, f"### [{name}]").items()}
    assert told == defaults(model)


def test_the_keys_of_a_schedule() -> None:
    assert set(table_below(PAGE, "## schedules/")) == set(KEYS)


def test_the_keys_of_a_webhook(tmp_path: Any) -> None:
    (tmp_path / "channels").mkdir()
    (tmp_path / "channels" / "ci.toml").write_text('use = "webhook"\nverify = "none"\n')
    module = Folder(tmp_path, Settings(model="rehearsal")).scan().channels["ci"].module
    fields = module.Settings.model_fields
    told = table_below(PAGE, "### webhook")
    assert set(told) == set(fields)
    for name in ("body_limit", "trusted"):
        assert told[name][0] == shown(fields[name].default)
