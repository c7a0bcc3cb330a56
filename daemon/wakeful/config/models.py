"""Names of models, and what can be said of them before any provider's library is loaded."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from wakeful.config.words import nearest

REHEARSAL = "rehearsal"
LOCAL = "local"
EXAMPLE = '"openai:gpt-5"'
OURS = ("timeout", "total_timeout", "max_retries", "max_characters")  # what the line looks after
COMMON = (*OURS, "temperature", "max_tokens")  # what goes to a fallback of another provider too
# Providers whose classes take `timeout` and `max_retries`; the line bounds the others by itself.
TIMED = frozenset(
    {"openai", "anthropic", "azure_openai", "google_genai", "groq", "mistralai", "deepseek", "xai"}
)
# What LangChain knows, for a wrong word; a later one may know more.
_OTHERS = """
    anthropic_bedrock azure_ai baseten bedrock bedrock_converse bedrock_mantle_anthropic
    bedrock_mantle_openai cohere fireworks google_anthropic_vertex google_vertexai huggingface ibm
    langsmith litellm meta nvidia ollama openrouter perplexity together upstage
"""
PROVIDERS = TIMED | frozenset(_OTHERS.split())
INFERRED = {
    REHEARSAL: REHEARSAL,
    **dict.fromkeys(("gpt-", "chatgpt", "o1", "o3", "o4"), "openai"),
    "claude": "anthropic",
    "gemini": "google_genai",
}
KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


def provider_of(name: str) -> str:
    """`openai` of `openai:gpt-5` and of `gpt-5`; empty when nobody can tell."""
    if ":" in name:
        return name.partition(":")[0]
    return next((to for start, to in INFERRED.items() if name.startswith(start)), "")


def options_for(
    name: str, main: str, known: Collection[str], options: Mapping[str, Any]
) -> dict[str, Any]:
    """The options of one model: its own, and those shared ones that fit its provider.

    Shared options are those of the main model. A table named like a model,
    `[model_options."anthropic:claude"]`, holds options for that one alone.
    """
    tables = {key for key in options if key in known or ":" in key}
    shared = {key: value for key, value in options.items() if key not in tables}
    if provider_of(name) != provider_of(main):
        shared = {key: value for key, value in shared.items() if key in COMMON}
    own = options.get(name, {})
    return shared | dict(own if isinstance(own, Mapping) else {})


def name_fault(name: str, options: Mapping[str, Any], environment: Mapping[str, str]) -> str | None:
    """What is wrong with a model's name or its key; None when only its library knows more."""
    provider = provider_of(name)
    if not provider:
        return f'whose model is "{name}"? write its provider before it, as in {EXAMPLE}'
    return _key_fault(name, provider, options, environment)


def provider_fault(name: str) -> str | None:
    """A provider that nobody has heard of, with the nearest that somebody has."""
    provider, known = provider_of(name), PROVIDERS | {LOCAL, REHEARSAL}
    if not provider or provider in known:
        return None
    near = nearest(provider, known)
    hint = f'did you mean "{near}"?' if near else f"write provider and model, as in {EXAMPLE}"
    return f'there is no model provider "{provider}"; {hint}'


def _key_fault(
    name: str, provider: str, options: Mapping[str, Any], environment: Mapping[str, str]
) -> str | None:
    """Some SDKs notice a missing key only at the first call, in their own words."""
    variable = KEYS.get(provider)
    given = any(key.endswith(("api_key", "auth_token", "token_provider")) for key in options)
    if not variable or given or environment.get(variable):
        return None
    return (
        f'the model "{name}" needs a key: set {variable}, or write api_key = "secret:{variable}" '
        "in [model_options] (a server that wants no key takes any text)"
    )
