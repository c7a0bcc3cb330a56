from __future__ import annotations

import pytest

from wakeful.errors import Refused
from wakeful.outbound import Hosts, host_pattern, parse, written_in


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://EXAMPLE.com.:443/a?b=c#d", "https://example.com/a?b=c"),
        ("http://example.com:8080/a%20b/ü", "http://example.com:8080/a%20b/%C3%BC"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://example.com/\u202egpj.exe", "https://example.com/%E2%80%AEgpj.exe"),
        ("https://[2606:4700:0::1111]/x", "https://[2606:4700::1111]/x"),
        ("http://1.1.1.1/x", "http://1.1.1.1/x"),
        ("https://example.com/a|b", "https://example.com/a%7Cb"),
    ],
)
def test_an_address_has_one_spelling(url: str, read: str) -> None:
    assert str(parse(url)) == read
    assert str(parse(read)) == read


def test_one_too_long_to_be_looked_at_is_refused() -> None:
    with pytest.raises(Refused, match="2000 fit"):
        parse("https://example.com/" + "a" * 2_000)


@pytest.mark.parametrize("value", ["docs.example.com", "*.example.com", "BÜCHER.example"])
def test_a_host_of_the_settings(value: str) -> None:
    assert host_pattern(value).isascii()


@pytest.mark.parametrize(
    "value",
    ["", "*", "*.", "*.com", "https://a.example", "a.example/x", "a.example:80", "a@b.example"],
)
def test_what_is_no_host_of_the_settings(value: str) -> None:
    with pytest.raises(ValueError):
        host_pattern(value)


def test_a_host_is_that_host_and_a_star_is_what_is_below_it() -> None:
    hosts = Hosts(["docs.example.com", "*.example.org"])
    assert parse("https://docs.example.com/a") in hosts
    assert parse("https://a.b.example.org:8443/") in hosts
    for url in (
        "https://example.com/",
        "https://x.docs.example.com/",
        "https://docs.example.com.evil.example/",
        "https://example.org/",
        "https://notexample.org/",
    ):
        assert parse(url) not in hosts


def test_an_address_in_a_text_counts_as_a_whole() -> None:
    text = (
        "See https://example.com/a?q=1, (http://example.org/b), <https://c.example/d|here> "
        "and **https://example.net/e**. Not https://example.com:99999/ though."
    )
    found = {str(address) for address in written_in(text)}
    for url in ("https://example.com/a?q=1", "http://example.org/b", "https://c.example/d"):
        assert url in found
    assert "https://example.net/e" in found
    assert not {"https://example.com/a", "https://example.com/", "http://example.org/"} & found


def test_a_text_that_is_made_to_take_long_does_not() -> None:
    text = "https://a.example/" + ")" * 1_000_000 + " https://b.example/" * 100_000
    assert len(list(written_in(text))) <= 2_000
