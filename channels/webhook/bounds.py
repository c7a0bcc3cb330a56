"""What one step of a template may make: no few words of a stranger may fill the memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from functools import wraps
from typing import Any

WIDEST = 100_000  # of a number that becomes a width or a count
LARGEST = 10_000_000  # characters or items that one step may make
EXPONENT = 100
PLAIN = frozenset({"d", "default", "float", "int", "sum"})  # filters whose numbers are just values
# A width of six digits, or one that an argument gives.
WIDTH = re.compile(r"%[^a-zA-Z%]*(?:\d{6}|\*)|\{[^{}]+\{|\{[^{}]*:[^{}]*\d{6}")


def bounded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The same filter, refusing what would make far more than there is."""
    first = 1 if hasattr(function, "jinja_pass_arg") else 0  # Jinja's own argument

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        given = [*args[first:], *kwargs.values()]
        _check_sizes(name, given)
        if name not in PLAIN:
            _check_numbers(name, given[1:])
        if name == "format":
            _check_format(given[0])
        return function(*args, **kwargs)

    return checked


def check_call(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuse a method of a text or a number that would make far more than there is."""
    plain = getattr(function, "__wrapped__", function)  # the sandbox wraps `format`
    owner, name = getattr(plain, "__self__", None), getattr(plain, "__name__", "")
    if isinstance(owner, str | bytes | int):
        _check_numbers(name, [*args, *kwargs.values()])
        _check_sizes(name, [owner, *args, *kwargs.values()])
        if name in ("format", "format_map"):
            _check_format(owner)


def check_operation(operator: str, left: Any, right: Any) -> None:
    """Refuse an operation that would make far more than there is."""
    sizes = [len(one) if isinstance(one, Sized) else None for one in (left, right)]
    made = 0
    if operator == "**" and abs(right) > EXPONENT:
        raise _refusal(f"an exponent may be {EXPONENT} at most")
    if operator == "%" and isinstance(left, str):
        _check_format(left)
    elif operator == "+":
        made = sum(size or 0 for size in sizes)
    elif operator == "*" and sizes != [None, None]:
        times = right if sizes[0] is not None else left
        made = (sizes[0] or sizes[1] or 0) * (times if isinstance(times, int) else 0)
    if made > LARGEST:
        raise _refusal(f"one step may make {LARGEST:,} characters at most")


def _check_numbers(name: str, values: Iterable[Any]) -> None:
    if any(isinstance(one, int) and one > WIDEST for one in values):
        raise _refusal(f"a number given to `{name}` may be {WIDEST:,} at most")


def _check_sizes(name: str, values: Iterable[Any]) -> None:
    sizes = sorted(len(one) for one in values if isinstance(one, Sized))
    if len(sizes) > 1 and sizes[-1] * sizes[-2] > LARGEST:
        raise _refusal(f"`{name}` may make {LARGEST:,} characters at most")


def _check_format(text: Any) -> None:
    if isinstance(text, str) and WIDTH.search(text):
        raise _refusal(f"a width in a format may be {WIDEST:,} at most, and no argument")


def _refusal(sentence: str) -> Exception:
    from jinja2.exceptions import SecurityError

    return SecurityError(sentence)
