"""Send one delivery over HTTP: bounded in time and size, without redirects."""

import asyncio
import ssl
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus

import httpcore
import httpx

from ladder.extras.webhooks.addresses import BadWebhook, PublicBackend

TIMEOUT_S = 10.0
MAX_RESPONSE_BYTES = 16 << 10
USER_AGENT = "torres-ladder-webhooks/1"


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """The request to one webhook."""

    url: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class SendResult:
    """The result of a try: `error` is "" if the receiver has the event.

    `status` is that of the answer, if there was one.
    """

    status: int | None
    error: str


async def send(message: OutgoingMessage, timeout_s: float = TIMEOUT_S) -> SendResult:
    """Send a message. Never raises because of what a receiver does.

    `timeout_s` limits everything together: name, connection, answer. A receiver that
    sends one byte each second does not prolong it.
    """
    try:
        async with asyncio.timeout(timeout_s):
            status = await _post(message)
    except TimeoutError:
        return SendResult(None, f"The receiver did not answer within {timeout_s:g} s.")
    except BadWebhook as refusal:
        return SendResult(None, str(refusal))
    except (
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.TimeoutException,
        httpx.InvalidURL,
        OSError,
        ValueError,
    ) as error:
        return SendResult(None, f"No answer: {type(error).__name__}.")
    return SendResult(status, _error_of(status))


async def _post(message: OutgoingMessage) -> int:
    """Return the status of the answer. Of its body only a little is read."""
    headers = {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        **message.headers,
    }
    parsed = httpx.URL(message.url)
    url = httpcore.URL(
        scheme=parsed.raw_scheme,
        host=parsed.raw_host,
        port=parsed.port,
        target=parsed.raw_path,
    )
    async with (
        httpcore.AsyncConnectionPool(
            network_backend=PublicBackend(), ssl_context=_ssl_context()
        ) as pool,
        pool.stream(
            "POST", url, headers=list(headers.items()), content=message.body
        ) as response,
    ):
        size = 0
        async for chunk in response.aiter_stream():
            size += len(chunk)
            if size > MAX_RESPONSE_BYTES:
                break
        return response.status


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpcore.default_ssl_context()


def _error_of(status: int) -> str:
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return ""
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return f"The receiver answered {status}. Redirects are not followed."
    return f"The receiver answered {status}."
