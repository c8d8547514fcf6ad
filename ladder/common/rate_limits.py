"""Counters of requests: one for each client, in the shared cache.

A window opens with the first request of a client and ends WINDOW_S later. Windows that
followed the clock would let a client send twice as much at the turn of a minute.
"""

import time
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import NamedTuple

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

WINDOW_S = 60
HOUR_S = 3600
NETWORK_BITS = 64
SITE_BITS = 48
WIDER = 5
"""The limit of a client that stands for several people, in limits of an address: an
IPv6 site, an invitation, or the passwords that anybody tries for one account."""
# A counter holds the second in which its window opened times this, plus the requests:
# one number, because the cache adds to a number in one step.
_START = 10**9


class Use(NamedTuple):
    """The part of its limit that a client has used."""

    requests: int  # in the present window, with this one
    left_s: int  # seconds until the window ends, from 1 on


class Quota(NamedTuple):
    """A limit that applies to a request, and its use with this request."""

    name: str
    limit: int
    use: Use

    @property
    def is_exceeded(self) -> bool:
        return self.use.requests > self.limit


def wait_s(scope: str, client: str, factor: int = 1, cost: int = 1) -> int:
    """Count an expensive action. Return 0, or how long to wait if it is one too many.

    `scope` is a key of the setting TORRES_RATES, whose limit holds `factor` times.
    The action counts `cost` times.
    """
    use = count(f"{scope}:{client}", amount=cost)
    return use.left_s if use.requests > factor * settings.TORRES_RATES[scope] else 0


def address_wait_s(scope: str, request: HttpRequest) -> int:
    """Count an expensive action of an address and of its site, as `wait_s` does."""
    client = address(request)
    wait = wait_s(scope, client)
    if site := site_of(client):
        wait = max(wait, wait_s(scope, site, WIDER))
    return wait


def hourly_wait_s(scope: str, client: str, limit: int) -> int:
    """Count an action of this hour. Return 0, or how long to wait if it is too much.

    If the client is an address, its site has WIDER limits of its own.
    """
    uses = [(count(f"{scope}:{client}", HOUR_S), limit)]
    if site := site_of(client):
        uses.append((count(f"{scope}:{site}", HOUR_S), WIDER * limit))
    return max((use.left_s for use, most in uses if use.requests > most), default=0)


def address(request: HttpRequest | Request) -> str:
    """Return the client's address, behind as many proxies as TORRES_PROXIES names.

    Of IPv6 it is the network of 64 bits: each customer has one, with 2^64 addresses
    (RFC 6177).
    """
    text = str(BaseThrottle().get_ident(request))  # type: ignore[arg-type]
    try:
        client = ip_address(text)
    except ValueError:  # a socket of a file, or what a proxy wrote
        return text
    if isinstance(client, IPv4Address):
        return text
    if client.ipv4_mapped is not None:
        return str(client.ipv4_mapped)
    return str(IPv6Network((int(client), NETWORK_BITS), strict=False))


def site_of(client: str) -> str:
    """Return the IPv6 network of 48 bits around an `address`, or "" without one.

    A customer may have all its 65,536 networks of 64 bits.
    """
    if not client.endswith(f"/{NETWORK_BITS}"):
        return ""
    return str(IPv6Network(client).supernet(new_prefix=SITE_BITS))


def count(client: str, window_s: int = WINDOW_S, amount: int = 1) -> Use:
    """Add `amount` to the counter of this client. It starts anew after `window_s`."""
    key = f"rate:{client}"
    now = int(time.time())
    opened = now * _START + amount
    counter = opened
    if not cache.add(key, opened, window_s):
        counter = _increment(key, opened, amount)
    start, requests = divmod(counter, _START)
    return Use(requests, max(1, start + window_s - now))


def counted(client: str) -> Use:
    """Return the counter of this client in a window of WINDOW_S, without a change."""
    now = int(time.time())
    start, requests = divmod(cache.get(f"rate:{client}") or now * _START, _START)
    return Use(requests, max(1, start + WINDOW_S - now))


def take_address(request: HttpRequest | Request) -> Iterator[Quota]:
    """Count a request without a token, one limit after another."""
    client = address(request)
    limit = settings.TORRES_RATE_ANONYMOUS
    yield take(request, "address", limit, f"addr:{client}")
    if site := site_of(client):
        yield take(request, "site", WIDER * limit, f"addr:{site}")


def take(request: HttpRequest | Request, name: str, limit: int, client: str) -> Quota:
    """Count a request, and remember its quota for the header of the response."""
    quota = Quota(name, limit, count(client))
    quotas_of(request).append(quota)
    return quota


def quotas_of(request: HttpRequest | Request) -> list[Quota]:
    """Return the quotas that were counted for a request."""
    django_request = request._request if isinstance(request, Request) else request  # noqa: SLF001
    quotas: list[Quota] = django_request.__dict__.setdefault("rate_quotas", [])
    return quotas


def _increment(key: str, opened: int, amount: int) -> int:
    try:
        return cache.incr(key, amount)
    except ValueError:  # the window ended, or the cache evicted the key, meanwhile
        return opened
