"""Sandboxed Jinja over a payload that a stranger wrote: bounded in time and in size."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from time import monotonic
from types import FrameType
from typing import Any

from .bounds import bounded, check_call, check_operation

SECONDS = 1.0
CHARACTERS = 100_000
CUT = "\n[... cut here; the rest is longer than {limit:,} characters]"


class TemplateFailed(Exception):
    """The template does not go with this payload."""


def template_fault(text: str) -> str:
    """What is wrong with the template, or nothing."""
    from jinja2 import TemplateSyntaxError

    try:
        _compiled(text)
    except TemplateSyntaxError as error:
        return f"line {error.lineno}: {error.message}"
    return ""


def render(text: str, values: Mapping[str, Any], *, limit: int = CHARACTERS) -> str:
    """The filled-in template. Call it in a thread. Raises TemplateFailed."""
    try:
        return _drain(_compiled(text), values, limit)
    except Exception as error:  # a template can raise whatever Python can
        raise TemplateFailed(f"{type(error).__name__}: {error}"[:300]) from None


def _drain(template: Any, values: Mapping[str, Any], limit: int) -> str:
    parts: list[str] = []
    size = 0
    with _Deadline(template.filename or "<template>"):
        for part in template.generate(**values):
            parts.append(part)
            size += len(part)
            if size > limit:
                return "".join(parts)[:limit] + CUT.format(limit=limit)
    return "".join(parts)


class _Deadline:
    """Ends a template that goes on and on without printing: by tracing its lines."""

    def __init__(self, filename: str) -> None:
        self._filename, self._until = filename, monotonic() + SECONDS

    def __enter__(self) -> None:
        self._before = sys.gettrace()
        sys.settrace(self._trace)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _trace(self, frame: FrameType, event: str, arg: object) -> Any:
        if monotonic() > self._until:
            raise TimeoutError(f"the template took longer than {SECONDS:g} s")
        return self._trace if frame.f_code.co_filename == self._filename else None


@lru_cache(maxsize=256)
def _compiled(text: str) -> Any:
    return _environment().from_string(text)


@lru_cache(maxsize=1)
def _environment() -> Any:
    from jinja2 import ChainableUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Environment(ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset({"*", "**", "+", "%"})

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.filters = {name: bounded(name, one) for name, one in self.filters.items()}

        def getattr(self, obj: Any, attribute: str) -> Any:
            """A key goes before a method of `dict`: `payload.items` is the sender's."""
            if isinstance(obj, Mapping) and attribute in obj:
                return obj[attribute]
            return super().getattr(obj, attribute)

        def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
            check_call(obj, args, kwargs)
            return super().call(context, obj, *args, **kwargs)

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            check_operation(operator, left, right)
            return super().call_binop(context, operator, left, right)

    return Environment(undefined=ChainableUndefined, autoescape=False)
