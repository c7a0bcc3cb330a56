from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import Any

import pytest

from tests.channels.loading import channel, inner

templates = inner(channel("webhook"), "templates")
TemplateFailed = templates.TemplateFailed


def render(text: str, payload: Any = None, **more: Any) -> str:
    rendered: str = templates.render(text, {"payload": payload, "headers": {}}, **more)
    return rendered


def test_values_of_the_payload_are_filled_in() -> None:
    payload = {"number": 42, "items": ["a", "b"], "update": {"values": 1}, "user": {"login": "x"}}
    assert render("pull/{{ payload.number }}", payload) == "pull/42"
    assert render("{{ payload.items | join('+') }} {{ payload.update.values }}", payload) == "a+b 1"
    assert render("{{ payload['user'].login }}", payload) == "x"
    assert render("[{{ payload.nothing.at.all }}]", payload) == "[]"
    assert render("{{ payload | tojson }}", {"a": "<b>"}).startswith("{")


def test_W12_a_payload_is_data_and_no_template() -> None:
    assert render("{{ payload.text }}", {"text": "{{ 7 * 7 }}{% raw %}"}) == "{{ 7 * 7 }}{% raw %}"


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ payload.__class__.__init__.__globals__ }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{{ payload.update({'a': 1}) }}{{ payload.a }}",
        "{{ (1).__class__.__base__.__subclasses__() }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
        "{{ 'x' * 1000000000 }}",
        "{{ [1] * 1000000000 }}",
        "{{ 9 ** 99999 }}",
        "{{ range(100000000) | list }}",
        "{{ payload.x + 1 }}",
    ],
)
def test_the_sandbox_holds(text: str) -> None:
    with suppress(TemplateFailed):
        assert render(text, {"x": "y"}) in ("", "{}")


@pytest.mark.parametrize(
    "text",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% set c = a %}{% endfor %}"
        "{% endfor %}",
        "{% macro m(n) %}{% for a in range(99999) %}{% set c = m2() %}{% endfor %}{% endmacro %}"
        "{% macro m2() %}{% for b in range(99999) %}{% set d = b %}{% endfor %}{% endmacro %}"
        "{{ m(1) }}",
    ],
)
def test_an_endless_template_is_ended(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "SECONDS", 0.1)
    begun = monotonic()
    with pytest.raises(TemplateFailed, match="longer than"):
        render(text)
    assert monotonic() - begun < 5


@pytest.mark.parametrize(
    "text",
    [
        "{{ '%500000000d' % 1 }}",
        "{{ '%*d' % (payload.n, 1) }}",
        "{{ '%500000000d' | format(1) }}",
        "{{ '{:>500000000}'.format(1) }}",
        "{{ '{:{w}}'.format(1, w=payload.n) }}",
        "{{ 'a' | center(500000000) }}",
        "{{ 'a'.ljust(payload.n) }}",
        "{{ 'a' | indent(payload.n, true) }}",
        "{{ [1] | batch(50000000, 'x') | list }}",
        "{{ [1] | slice(count=50000000) | list }}",
        "{{ ['a'] | map('center', payload.n) | list }}",
        "{{ payload.s.replace('x', payload.s) | length }}",
        "{{ payload.s | replace('x', payload.s) | length }}",
        "{{ payload.s | list | join(payload.s) | length }}",
        "{{ 'a' * 99999 * 99999 }}",
        "{{ ([1] * 99999) * 99999 }}",
        "{{ (1).to_bytes(500000000, 'big') | length }}",
        "{% set ns = namespace(x='a' * 99999) %}"
        "{% for i in range(30) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    ],
)
def test_W12_what_would_fill_the_memory_is_refused(text: str) -> None:
    with pytest.raises(TemplateFailed, match=r"SecurityError: .* at most"):
        render(text, {"n": 500_000_000, "s": "x" * 20_000})


def test_ordinary_filters_have_room() -> None:
    payload = {"text": "line\n" * 50_000, "list": ["a"] * 9_000, "n": 12}
    assert len(render("{{ payload.text | replace('\n', '\n> ') | length }}", payload)) == 6
    assert (
        render("{{ '%5.1f' % 3.14159 }}|{{ '{:>5}'.format(payload.n) }}", payload) == "  3.1|   12"
    )
    assert render("{{ payload.list | join(', ') | length }} {{ 'a' | center(3) }}", payload)
    assert render("{{ payload.n + 1 }} {{ payload.n % 5 }} {{ [1] + [2] }}", payload)
    assert render("{{ 1700000000000 | int }} {{ 5000000 | filesizeformat }}", payload)


def test_a_long_result_is_cut_with_a_note() -> None:
    text = render("{% for a in range(9999) %}{{ payload }}{% endfor %}", "x" * 1000, limit=5000)
    assert text.startswith("x" * 5000) and "cut here" in text and len(text) < 5200


def test_a_fault_of_the_template_has_its_line() -> None:
    assert templates.template_fault("fine {{ payload.x }}") == ""
    assert templates.template_fault("one\n{{ two").startswith("line 2: ")
