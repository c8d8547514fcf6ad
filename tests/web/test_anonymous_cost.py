"""No address that needs no sign-in and no parameter costs much of the processor.

The cost is counted in calls of functions, because a time depends on the machine.
"""

import sys
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests import factories

MAX_CALLS = 60_000
"""About 30 ms on a server of 2024."""

pytestmark = pytest.mark.django_db


def addresses(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[str]:
    """Yield the addresses of all routes without parameters."""
    for each in patterns:
        route = prefix + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from addresses(each.url_patterns, route)
        elif not set("<(^").intersection(route):
            yield f"/{route}"


def calls_of(client: Client, address: str) -> int:
    """Count the calls of Python functions that an answer needs."""
    calls = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        answer = client.get(address)
    finally:
        sys.setprofile(None)
    answer.close()
    return calls


def test_every_public_address_is_cheap() -> None:
    factories.everything()
    client = Client(raise_request_exception=False)
    routes = sorted(set(addresses(get_resolver().url_patterns, "")))
    assert "/api/schema/" in routes
    assert "/docs/" in routes

    costly = {}
    for address in [*routes, "/docs/?q=skill", "/docs/?q=the+rules+of+the+game"]:
        client.get(address).close()  # the first answer may fill a cache
        calls = calls_of(client, address)
        if calls > MAX_CALLS:
            costly[address] = calls
    assert costly == {}
