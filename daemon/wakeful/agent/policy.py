"""What is known of the tools of one agent: what they do to the world, and how they are called."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from wakeful.agent.gates import Gates
from wakeful.tool import Traits

TASK = "task"
TODOS = "write_todos"

# What deepagents brings itself. A sub-agent is entered again: its own calls are journaled.
OURS = {
    **dict.fromkeys(("ls", "read_file", "glob", "grep"), Traits("read")),
    **dict.fromkeys(("write_file", "edit_file", "delete", TODOS, TASK), Traits("repeat")),
}


@dataclass(frozen=True, slots=True)
class Policy:
    """The tools of one agent."""

    agent: str
    traits: Mapping[str, Traits]
    schemas: Mapping[str, type[BaseModel]]
    gates: Gates
    questions: frozenset[str] = frozenset()  # tools whose result is what a person answers

    def of(self, tool: str) -> Traits:
        return OURS.get(tool) or self.traits.get(tool) or Traits()

    def values(self, tool: str, args: Mapping[str, object]) -> Mapping[str, object]:
        """The arguments as the tool will get them, defaults included."""
        schema = self.schemas.get(tool)
        made = None if schema is None else schema.model_validate(dict(args))
        return dict(args) if made is None else {name: value for name, value in made}

    def misfit(self, tool: str, args: Mapping[str, object]) -> str:
        """What is wrong with these arguments; empty when nothing is."""
        schema = self.schemas.get(tool)
        if schema is None:
            return ""
        try:
            schema.model_validate(dict(args))
        except ValidationError as error:
            return "; ".join(
                f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"
                for fault in error.errors()
            )
        return ""


def digest_of(tool: str, args: Mapping[str, object]) -> str:
    """What a decision is bound to: the tool and its exact arguments."""
    text = json.dumps([tool, args], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
