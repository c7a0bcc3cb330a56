"""From the model's name in agent.toml to a model that can be asked."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr, ValidationError

from wakeful.agent.line import Bounds, Line, guard
from wakeful.config.models import (
    COMMON,
    LOCAL,
    OURS,
    REHEARSAL,
    TIMED,
    name_fault,
    options_for,
    provider_fault,
    provider_of,
)
from wakeful.config.words import nearest
from wakeful.errors import FolderFaulty
from wakeful.redact import redact
from wakeful.secrets import is_reference, keeps_secret

SCRIPT = "rehearsal.toml"  # an agent's own script, when no option names another
IN_PROCESS = "wakeful.rehearsal.model"  # by name: it stands on a floor above
TIMEOUT = 60.0  # seconds without a new piece
TOTAL_TIMEOUT = 600.0  # seconds for one answer
CHARACTERS = 1_000_000  # of one answer
TRIES, TRIES_LIMIT = 2, 5  # tries after the first

Resolve = Callable[[str], Awaitable[SecretStr] | SecretStr]


class ModelSettings(Protocol):
    """The part of the settings that is about models."""

    @property
    def model(self) -> str: ...
    @property
    def fallbacks(self) -> Sequence[str]: ...
    @property
    def model_options(self) -> Mapping[str, Any]: ...


class ModelUnusable(FolderFaulty):
    """The model cannot be used as agent.toml names it."""


async def build_model(
    settings: ModelSettings, resolve: Resolve, *, name: str = "", folder: Path | None = None
) -> BaseChatModel:
    """Build a model and what it falls back to; SDKs are imported in a thread.

    Without a `name` it is the settings' own model. `folder` is where paths in the options begin.
    Raises ModelUnusable with what to do next.
    """
    options = dict(settings.model_options)
    known = {settings.model, *settings.fallbacks, name}
    built: BaseChatModel | None = None
    for each in reversed((name or settings.model, *settings.fallbacks)):
        own = options_for(each, settings.model, known, options)
        wanted = await resolved(own, resolve)
        line = Line(each, _bounds(each, wanted), instead=built)
        built = guard(await asyncio.to_thread(_make, each, wanted, folder), line)
    assert built is not None, "there is always one name"
    return built


async def resolved(value: Any, resolve: Resolve, key: str = "") -> Any:
    """The options with `secret:NAME` and `${ENV}` replaced by what they stand for.

    A key that is written out is resolved as well, to itself: from then on it is known as a secret.
    """
    if isinstance(value, str) and (is_reference(value) or keeps_secret((key,))):
        found = resolve(value)
        secret = await found if inspect.isawaitable(found) else found
        return secret.get_secret_value()
    if isinstance(value, Mapping):
        return {name: await resolved(inner, resolve, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [await resolved(inner, resolve, key) for inner in value]
    return value


def _bounds(name: str, options: Mapping[str, Any]) -> Bounds:
    tries = int(_number(options, "max_retries", TRIES))
    return Bounds(
        idle=_number(options, "timeout", TIMEOUT),
        total=_number(options, "total_timeout", TOTAL_TIMEOUT),
        characters=int(_number(options, "max_characters", CHARACTERS)),
        tries=min(max(0, tries), TRIES_LIMIT),
        says_done=provider_of(name) in {REHEARSAL, LOCAL, "openai", "anthropic"},
    )


def _number(options: Mapping[str, Any], key: str, default: float) -> float:
    value = options.get(key, default)
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return float(value)
    raise ModelUnusable(f"{key} in [model_options] must be a number, as in {key} = {default:g}")


def _make(name: str, options: dict[str, Any], folder: Path | None) -> BaseChatModel:
    provider = provider_of(name)
    if provider == REHEARSAL:
        return _rehearsal(options, folder)
    if provider == LOCAL:
        local = importlib.import_module("wakeful.agent.local")
        name, options = local.endpoint(name.partition(":")[2], options)
        provider = provider_of(name)
    if wrong := name_fault(name, options, os.environ):
        raise ModelUnusable(wrong)
    full = name if ":" in name else f"{provider}:{name}"
    return _init(full, _passed_on(provider, options))


def _rehearsal(options: Mapping[str, Any], folder: Path | None) -> BaseChatModel:
    known = {"script", "pace"}
    wrong = sorted(options.keys() - known - set(COMMON))
    if wrong:
        near = nearest(wrong[0], known)
        hint = f'; did you mean "{near}"?' if near else "; it knows script and pace"
        raise ModelUnusable(f'the model "{REHEARSAL}" has no option "{wrong[0]}"{hint}')
    kwargs = {key: options[key] for key in known & options.keys()}
    if "script" in kwargs:
        kwargs["script"] = str((folder or Path()) / str(kwargs["script"]))
    elif folder and (folder / SCRIPT).is_file():
        kwargs["script"] = str(folder / SCRIPT)
    made: BaseChatModel = importlib.import_module(IN_PROCESS).Rehearsal(**kwargs)
    return made


def _passed_on(provider: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the provider's class gets: everything that is not the line's, and safe defaults."""
    kwargs = {key: value for key, value in options.items() if key not in OURS}
    if provider in TIMED:
        kwargs |= {"timeout": float(options.get("timeout", TIMEOUT)), "max_retries": 0}
    if provider == "openai":
        kwargs.setdefault("store", False)  # else the provider keeps the conversations
        kwargs.setdefault("stream_usage", True)
        kwargs.setdefault("stream_chunk_timeout", kwargs["timeout"])
    return kwargs


def _init(name: str, kwargs: dict[str, Any]) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    try:
        model: Any = init_chat_model(name, **kwargs)
    except ImportError as error:
        raise ModelUnusable(_missing_package(name, error)) from error
    except ValidationError as error:  # its own text would show the values
        what = "; ".join(f"{_path(each['loc'])}: {each['msg']}" for each in error.errors())
        raise ModelUnusable(f'the model "{name}" refused its [model_options]: {what}') from None
    except Exception as error:
        raise ModelUnusable(_explain(name, error)) from error
    if not isinstance(model, BaseChatModel):
        raise ModelUnusable(f'the model "{name}" cannot be built from these [model_options]')
    return model


def _missing_package(name: str, error: ImportError) -> str:
    found = re.search(r"pip install -?U? ?([\w-]+)", str(error))
    package = found[1] if found else f"langchain-{provider_of(name).replace('_', '-')}"
    return f'the model "{name}" needs one more package: pip install {package}'


def _path(location: Sequence[Any]) -> str:
    return ".".join(str(part) for part in location) or "all of them"


def _explain(name: str, error: Exception) -> str:
    text = redact(str(error))
    if "provider" in text and (unknown := provider_fault(name)):
        return unknown
    return f'the model "{name}" cannot be built: {" ".join(text.split())[:300]}'
