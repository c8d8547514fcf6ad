"""docs/api.md names every route of the API, and no other."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import resolve

from ladder import urls
from ladder.web.api.pagination import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE

PAGE = Path(settings.BASE_DIR / "docs" / "api.md").read_text()
METHOD = "GET|POST|PATCH|DELETE"
ROW = re.compile(rf"^\| `({METHOD}) ([\w/.-]+)`([^|]*)\|(.*)\|$", re.MULTILINE)
SETTINGS = re.findall(
    r"^\| .+ \| (\d+)(?: (\w+))? \| `(TORRES_\w+)` \|", PAGE, re.MULTILINE
)
UNITS = {"": 1, "MiB": 1 << 20, "GiB": 1 << 30}


def path_of(route: str) -> str:
    return "/api/v1/" + re.sub(r"\b(ID|DELIVERY)\b", "1", route)


def exists(route: str) -> bool:
    return resolve(path_of(route)).url_name is not None


def described_routes() -> list[tuple[str, str]]:
    """Return the methods and routes on the page.

    A row may describe several routes: `…/rerun/` stands beside the first one, and the
    words for ACTION or STEP are in the text of the row.
    """
    found = []
    for method, route, more, text in ROW.findall(PAGE):
        siblings = re.findall(r"`…/([\w-]+)/`", more)
        parent = route.rstrip("/").rpartition("/")[0]
        routes = [route, *[f"{parent}/{name}/" for name in siblings]]
        if place := re.search("ACTION|STEP", route):
            words = re.findall(r"`([a-z-]+)`", text)
            named = [route.replace(place[0], word) for word in words]
            routes = [each for each in named if exists(each)] or [route]
        found += [(method, each) for each in routes]
    return found


ROWS = described_routes()


@pytest.mark.parametrize(("method", "route"), ROWS)
def test_a_route_on_the_page_exists(method: str, route: str) -> None:
    assert exists(route)
    assert hasattr(resolve(path_of(route)).func.cls, method.lower())


def test_every_route_is_on_the_page() -> None:
    described = {resolve(path_of(route)).url_name for _, route in ROWS}

    assert described == {pattern.name for pattern in urls.api}


def test_every_method_is_on_the_page() -> None:
    described = {(resolve(path_of(route)).url_name, method) for method, route in ROWS}
    methods = {
        (pattern.name, method.upper())
        for pattern in urls.api
        for method in ("get", "post", "put", "patch", "delete")
        if hasattr(pattern.callback.cls, method)
    }

    assert described == methods


@pytest.mark.parametrize(("value", "unit", "name"), SETTINGS)
def test_a_limit_on_the_page_is_the_default(value: str, unit: str, name: str) -> None:
    source = (settings.BASE_DIR / "ladder" / "settings.py").read_text()
    default = re.search(rf'"{name}", default=(\d+)(?: << (\d+))?\)', source)

    assert default
    assert int(value) * UNITS[unit] == int(default[1]) << int(default[2] or 0)


def test_the_page_size_on_the_page_is_that_of_the_code() -> None:
    assert f"from 1 to {MAX_PAGE_SIZE}; the default is {DEFAULT_PAGE_SIZE}" in PAGE
