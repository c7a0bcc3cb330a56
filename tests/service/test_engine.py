"""What is slow is loaded once the port answers, and never on the loop."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SETTINGS = """\
model = "openai:gpt-5"

[model_options]
api_key = "a key that nobody asks for"

[server]
bind = "127.0.0.1:0"
"""
WATCHED = """\
import asyncio, json, sys, threading
from pathlib import Path

import httpx

from wakeful.service import engine, open_service

HEAVY = ("deepagents", "langchain", "langchain_core", "langchain_openai", "langgraph", "openai")
build, seen = engine.build, {}


class Finder:
    '''Finds nothing, and notes who looks for what.'''

    def find_spec(self, name, path=None, target=None):
        if name in HEAVY:
            main = threading.current_thread() is threading.main_thread()
            seen.setdefault("loaded", {})[name] = "main" if main else "aside"


async def watched(core, folder):
    seen["before"] = [name for name in HEAVY if name in sys.modules]
    url = (core.path / ".wakeful" / "address").read_text().strip()
    async with httpx.AsyncClient(trust_env=False) as client:
        seen["ready"] = (await client.get(f"{url}/ready")).status_code
        seen["health"] = (await client.get(f"{url}/health")).status_code
    sys.meta_path.insert(0, Finder())
    return await build(core, folder)


async def main():
    engine.build = watched
    async with open_service(Path(sys.argv[1])):
        print(json.dumps(seen))


asyncio.run(main())
"""


def test_the_port_answers_before_a_provider_s_library_is_loaded_in_a_thread(
    tmp_path: Path,
) -> None:
    (tmp_path / "agent.toml").write_text(SETTINGS)
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(tmp_path)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert (seen["before"], seen["ready"], seen["health"]) == ([], 503, 200)
    assert {"langchain_openai", "openai", "deepagents"} <= set(seen["loaded"])
    assert set(seen["loaded"].values()) == {"aside"}
