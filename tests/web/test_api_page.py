"""docs/api.md names every route of the API, and no other."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import Resolver404, resolve

from ladder import urls
from ladder.web.pagination import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE

PAGE = Path(settings.BASE_DIR / "docs" / "api.md").read_text()
ROWS = re.findall(r"^\| `(GET|POST|DELETE) ([\w/-]+)`", PAGE, re.MULTILINE)
SETTINGS = re.findall(
    r"^\| .+ \| (\d+)(?: (\w+))? \| `(TORRES_\w+)` \|", PAGE, re.MULTILINE
)
UNITS = {"": 1, "MiB": 1 << 20, "GiB": 1 << 30}


def path_of(route: str) -> str:
    return "/api/v1/" + route.replace("ID", "1")


@pytest.mark.parametrize(("method", "route"), ROWS)
def test_a_route_on_the_page_exists(method: str, route: str) -> None:
    try:
        view = resolve(path_of(route)).func
    except Resolver404:
        pytest.fail(f"{route} does not exist")

    assert hasattr(view.cls, method.lower())


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
