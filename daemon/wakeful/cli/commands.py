"""All commands by name, where each lives and what help says of it. Imports nothing, on purpose."""

from __future__ import annotations

# name: (module and attribute, one line of help)
COMMANDS = {
    "init": ("init:init", "Write a new agent folder."),
    "run": ("run:run", "Keep the agent of a folder awake, until you stop it."),
    "chat": ("chat:chat", "Talk with the running agent in the terminal."),
    "console": ("console:console", "Print the page's address and a code for the browser."),
    "check": ("check:check", "Say everything that is wrong with an agent folder."),
    "status": ("status:status", "Say how the daemon is and what waits."),
    "threads": ("threads:threads", "List the conversations."),
    "runs": ("runs:runs", "List what ran, or show one run."),
    "schedules": ("schedules:schedules", "List the schedules, look ahead, or run one now."),
    "waits": ("waits:waits", "List the questions that wait for a person."),
    "approve": ("waits:approve", "Let a waiting call go on."),
    "reject": ("waits:reject", "Turn a waiting call down."),
    "skills": ("skills:skills", "List the skills, see what is new in one, accept it."),
    "effects": ("effects:effects", "List the calls that changed something in the world."),
    "replay": ("replay:replay", "Run an event that has ended once more."),
    "secrets": ("secrets:secrets", "Store what settings name as secret:NAME."),
    "models": ("models:models", "Bring a model to this machine."),
    "demo": ("demo:demo", "Show the main job in a folder of its own, without any key."),
}

_HEAD = """\
Usage: wakeful [-C DIR] COMMAND [ARGS]...

  Wakeful keeps a deep agent awake.

  A command works in the nearest folder upward that has an agent.toml, or in
  the one that -C names. `wakeful COMMAND --help` says more. What an exit code
  means stands in docs/operations.md.

Options:
  -C DIR      Work in this agent folder.
  --version   Show the version and exit.
  -h, --help  Show this message and exit.

Commands:"""


def help_text() -> str:
    """What `wakeful --help` prints."""
    return "\n".join([_HEAD, *(f"  {name:<10}  {text}" for name, (_, text) in COMMANDS.items())])
