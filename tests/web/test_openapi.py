from __future__ import annotations

from typing import Any

from tests.web.conftest import Site
from wakeful.service.operations import Commands
from wakeful.web.api import Api
from wakeful.web.openapi import document

PAGES = {"/", "/login", "/logout", "/static"}


def routes(site: Site) -> set[tuple[str, str]]:
    found = set()
    for route in Api(site.host, site.auth).routes():
        for method in (route.methods or set()) - {"HEAD"}:
            found.add((route.path, method.lower()))
    return found


def test_the_document_and_the_routes_are_the_same(site: Site) -> None:
    described = {(path, method) for path, row in document()["paths"].items() for method in row}
    assert described - {("/health", "get"), ("/ready", "get")} == routes(site)


def test_every_operation_has_a_name_of_its_own_and_its_parameters() -> None:
    names: list[str] = []
    for path, row in document()["paths"].items():
        for operation in row.values():
            names.append(operation["operationId"])
            in_path = {p["name"] for p in operation["parameters"] if p["in"] == "path"}
            assert in_path == {part[1:-1] for part in path.split("/") if part.startswith("{")}
    assert len(names) == len(set(names))


async def test_answers_have_the_documented_keys(site: Site) -> None:
    client = site.client(site.build(operations=Commands(site.core)))
    await client.post("/api/messages", json={"text": "hi", "thread": "console/a"})
    await site.asks("w1")
    for path, row in document()["paths"].items():
        if "get" not in row or path.endswith("/stream") or "{" in path.replace("{event}", ""):
            continue
        answer = await client.get(path.replace("{event}", "1"), params={"key": "console/a"})
        assert answer.status_code == 200, path
        good = row["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        _holds(answer.json(), good, path)


def _holds(value: Any, schema: dict[str, Any], path: str) -> None:
    missing = set(schema.get("required", ())) - set(value)
    assert not missing, f"{path} lacks {missing}"
    for key, inner in schema.get("properties", {}).items():
        if inner.get("type") == "array":
            for one in value[key]:
                _holds(one, inner["items"], f"{path} {key}")
