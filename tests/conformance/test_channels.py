"""What every channel keeps to: ours, and the doubles that the tests use in their place."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from tests.conformance.plugs import forbidden_imports, ours
from tests.service.fakes import Box, HandClock, event, store_at
from wakeful.channel import Channel
from wakeful.errors import Refused, RetryLater
from wakeful.events import Claim, Health, Receipt, Reply, Update
from wakeful.plugs.find import Entry
from wakeful.plugs.instances import contract_faults
from wakeful.plugs.reading import read_entry
from wakeful.service.artefacts import Artefacts
from wakeful.service.host import Desk, PlugHost
from wakeful.service.updates import Updates
from wakeful.service.view import LiveView

# The least that each channel needs; a new one adds its line here.
LEAST: dict[str, dict[str, Any]] = {"webhook": {"verify": "none"}}
FILES = [pytest.param(entry, id=entry.name) for entry in ours("channels")]


class _NoSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


@asynccontextmanager
async def _open_box(settings: Any, host: Any) -> AsyncIterator[Box]:
    yield Box()


def module(name: str) -> Any:
    if name == "double":
        return SimpleNamespace(Settings=_NoSettings, open=_open_box)
    [entry] = [each for each in ours("channels") if each.name == name]
    made, faults = read_entry(entry, "UTC")
    assert faults == []
    return made


NAMES = [*(entry.name for entry in ours("channels")), "double"]


@pytest.fixture(params=NAMES)
def plug(request: pytest.FixtureRequest) -> tuple[str, Any]:
    return request.param, module(request.param)


@pytest.fixture
async def host(tmp_path: Path, plug: tuple[str, Any]) -> AsyncIterator[PlugHost]:
    clock = HandClock()

    async def nothing(*_: Any) -> Any:
        return {}

    async with store_at(tmp_path, clock) as store:
        desk = Desk(
            store=store,
            clock=clock,
            view=LiveView(store.view, Updates(store.event, process="test"), nothing),
            artefacts=Artefacts(tmp_path / "artefacts"),
            wake=store.work.set,
            post=store.mail.set,
            stop=nothing,
            tidy=nothing,
            mount=lambda *_, **__: None,
            addresses=lambda: [plug[0]],
            settings=dict,
        )
        yield PlugHost(plug[0], desk)


def opened(plug: tuple[str, Any], host: PlugHost) -> AbstractAsyncContextManager[Channel]:
    name, made = plug
    settings = made.Settings.model_validate(LEAST.get(name, {}))
    manager: AbstractAsyncContextManager[Channel] = made.open(settings, host)
    return manager


def reply(name: str, where: str = "reports") -> Reply:
    return Reply(
        id=1,
        event_seq=1,
        ordinal=f"final/{name}:{where}/0",
        thread_key=f"{name}/a",
        address=f"{name}:{where}",
        text="Done.",
        kind="answer",
        attempts=0,
    )


@pytest.mark.parametrize("entry", FILES)
def test_a_file_imports_contracts_only_and_nothing_heavy(entry: Entry) -> None:
    assert forbidden_imports(entry) == []


def test_it_has_settings_that_refuse_unknown_keys_and_do_not_change(plug: tuple[str, Any]) -> None:
    name, made = plug
    assert list(contract_faults(made, name)) == []
    settings = made.Settings.model_validate(LEAST.get(name, {}))
    assert made.Settings.model_config.get("frozen") is True
    with pytest.raises(ValidationError) as caught:
        made.Settings.model_validate({**LEAST.get(name, {}), "no_such_key": 1})
    assert "extra_forbidden" in {error["type"] for error in caught.value.errors()}
    assert isinstance(settings, BaseModel)


async def test_it_opens_closes_and_opens_again(plug: tuple[str, Any], host: PlugHost) -> None:
    for _ in range(2):
        async with opened(plug, host) as channel:
            assert isinstance(channel, Channel)


async def test_a_probe_says_whether_it_works(plug: tuple[str, Any], host: PlugHost) -> None:
    async with opened(plug, host) as channel:
        health = await channel.probe()
        assert isinstance(health, Health)
        assert health.ok or health.detail


async def test_send_ends_in_a_receipt_or_in_an_error_that_the_courier_knows(
    plug: tuple[str, Any], host: PlugHost
) -> None:
    async with opened(plug, host) as channel:
        for where in ("reports", "a/b c\u00fc", "x" * 500):
            try:
                receipt = await channel.send(reply(plug[0], where))
            except (Refused, RetryLater) as error:
                assert str(error)
            else:
                assert isinstance(receipt, Receipt) and receipt.id


async def test_find_looks_and_does_not_send(plug: tuple[str, Any], host: PlugHost) -> None:
    async with opened(plug, host) as channel:
        found = await channel.find(reply(plug[0]))
        assert found is None or isinstance(found, Receipt)
        if isinstance(channel, Box):
            assert channel.sent == []


async def test_progress_of_every_kind_and_a_change_may_be_shown(
    plug: tuple[str, Any], host: PlugHost
) -> None:
    name = plug[0]
    claim = Claim(
        seq=1,
        event=event("hello", channel=name, address=f"{name}:a"),
        graph_id="g",
        fence=1,
        attempts=0,
        crashes=0,
        received_at=0,
    )
    async with opened(plug, host) as channel:
        for kind in ("text", "tool", "tool-end", "agent", "agent-end", "state", "reply"):
            await channel.progress(claim, Update(kind=kind, event_seq=1, text="x"))
        await channel.amend(Receipt("1"), reply(name))
