"""Refuse addresses that are not public, so that no request reaches our own network.

A name is resolved once for each connection, and the connection goes to the address that
was checked. So a name that changes its address meanwhile gains nothing.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, TimeoutError as NotInTime
from ipaddress import IPv4Address, IPv6Address

import httpcore
import httpx
from django.conf import settings
from httpcore import AnyIOBackend, AsyncNetworkBackend, AsyncNetworkStream

from ladder.extras.webhooks.models import MAX_URL_LENGTH
from torres.common.errors import LadderError
from torres.common.quoting import quoted

RESOLVE_TIMEOUT_S = 5.0
# A resolver that does not answer holds up one of these threads, and no request.
_RESOLVERS = ThreadPoolExecutor(4, thread_name_prefix="webhook-names")
WEB_PORTS = {80, 443}
FIRST_FREE_PORT = 1024
LAST_PORT = 65_535
DEFAULT_PORTS = {"http": 80, "https": 443}
# All addresses of IPv6 that are given to hosts in public.
_UNICAST = ipaddress.IPv6Network("2000::/3")
# For protocols, not for hosts: Python 3.11 takes some of them for global. The networks
# of IPv6 carry an address of IPv4, which a gateway may take out of them.
_SPECIAL = [
    ipaddress.ip_network(network)
    for network in ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16")
]
SocketOptions = Iterable[
    tuple[int, int, int]
    | tuple[int, int, bytes | bytearray]
    | tuple[int, int, None, int]
]


class BadWebhook(LadderError, code="bad-webhook", http_status=422):
    """The requested webhook is not allowed. The message gives the reason."""


def check_url(url: str) -> None:
    """Raise BadWebhook if nothing may be sent to this URL, as it is resolved now."""
    host, port = _host_and_port(url)
    try:
        addresses = _RESOLVERS.submit(_resolve, host, port).result(RESOLVE_TIMEOUT_S)
    except (OSError, UnicodeError, NotInTime):
        raise BadWebhook(
            f"The host {host} has no address. Check the URL, or try again later."
        ) from None
    _check_addresses(host, port, addresses)


def is_permitted(address: str) -> bool:
    """True if something may be sent to an IP address, as text.

    It must be public, or in one of the networks of TORRES_WEBHOOK_NETWORKS.
    """
    ip = _plain(address)
    if ip is None:
        return False
    if any(ip in network for network in _permitted_networks()):
        return True
    if any(ip in network for network in _SPECIAL):
        return False
    if isinstance(ip, IPv6Address) and ip not in _UNICAST:
        return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


class PublicBackend(AsyncNetworkBackend):
    """Opens connections to permitted addresses only."""

    def __init__(self) -> None:
        self._backend = AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 -- the signature of httpcore
        local_address: str | None = None,
        socket_options: SocketOptions | None = None,
    ) -> AsyncNetworkStream:
        """Resolve the host once, check all its addresses, and connect to one of them.

        Raises BadWebhook.
        """
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError("the host has no address") from error
        addresses = [str(info[4][0]) for info in found]
        _check_addresses(host, port, addresses)
        failure: Exception = httpcore.ConnectError("the host has no address")
        for address in dict.fromkeys(addresses):
            try:
                return await self._backend.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except httpcore.ConnectError as error:
                failure = error
        raise failure


def _host_and_port(url: str) -> tuple[str, int]:
    """Return the parts of a URL that is formally right. Raises BadWebhook."""
    if len(url) > MAX_URL_LENGTH:
        raise BadWebhook(f"A URL has at most {MAX_URL_LENGTH} characters.")
    try:
        parsed = httpx.URL(url)
        host = parsed.raw_host.decode("ascii")
    except (httpx.InvalidURL, ValueError):
        host = ""
    if not host or parsed.scheme not in DEFAULT_PORTS:
        raise BadWebhook(
            f"{quoted(url)} is not a URL with a host that begins with https:// or"
            " http://."
        )
    if parsed.userinfo or parsed.fragment:
        raise BadWebhook("The URL must have neither a user name nor a fragment.")
    return host, parsed.port or DEFAULT_PORTS[parsed.scheme]


def _resolve(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(info[4][0]) for info in found]


def _check_addresses(host: str, port: int, addresses: list[str]) -> None:
    """Raise BadWebhook if one of the addresses of a host, or the port, is refused."""
    refused = [address for address in addresses if not is_permitted(address)]
    if refused or not addresses:
        raise BadWebhook(
            f"{host} leads to an address that is not public. Webhooks are sent to"
            " public addresses only."
        )
    if port not in WEB_PORTS and not FIRST_FREE_PORT <= port <= LAST_PORT:
        raise BadWebhook(
            f"Port {port} is not a port for web servers. Use 80, 443, or a port from"
            f" {FIRST_FREE_PORT} to {LAST_PORT}."
        )


def _plain(address: str) -> IPv4Address | IPv6Address | None:
    """Return an address without its zone; a mapped one as the IPv4 address it is."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return getattr(ip, "ipv4_mapped", None) or ip


def _permitted_networks() -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    return [ipaddress.ip_network(text) for text in settings.TORRES_WEBHOOK_NETWORKS]
