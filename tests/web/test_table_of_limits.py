"""The limits of nginx and of the API's page are those of the settings.

`tests.deploy.test_operating_page` compares the page for operators.
"""

import re

import pytest
from django.conf import settings

from ladder.web.middleware.bodies import FORM_OVERHEAD_BYTES, MAX_BODY_BYTES
from ladder.web.server.streams.open_streams import EventStream, OpenStreams
from ladder.web.server.streams.request import StreamRequest, Topic

NGINX = (settings.BASE_DIR / "deploy" / "nginx.conf").read_text()
CONNECTIONS_BESIDE_STREAMS = 100
KIB = 1024
SCOPES = {
    "TORRES_RATE_UPLOAD": "upload",
    "TORRES_RATE_PAGES": "page",
    "TORRES_RATE_REPLAYS": "replay",
}
MIN_ROWS = 9
UNITS = {"": 1, "MiB": 1 << 20, "GiB": 1 << 30}


def setting(name: str) -> int:
    scope = SCOPES.get(name)
    return settings.TORRES_RATES[scope] if scope else getattr(settings, name)


def test_nginx_allows_the_streams_of_an_address() -> None:
    """It allowed 30 connections, and the service 400 streams."""
    (connections,) = re.findall(r"limit_conn torres_connections (\d+);", NGINX)

    streams = settings.TORRES_MAX_STREAMS_PER_ADDRESS
    assert int(connections) == streams + CONNECTIONS_BESIDE_STREAMS


def test_nginx_allows_the_bodies_that_the_service_reads() -> None:
    form, upload = re.findall(r"client_max_body_size (\d+)k;", NGINX)

    assert int(form) * KIB == MAX_BODY_BYTES
    assert int(upload) * KIB == settings.TORRES_UPLOAD_BYTES + FORM_OVERHEAD_BYTES


def test_the_page_of_the_api_has_the_limits_of_the_settings() -> None:
    page = (settings.BASE_DIR / "docs" / "api.md").read_text()
    (table,) = re.findall(r"\n## Limits\n(.*?)\n\n[A-Z]", page, re.DOTALL)
    rows = re.findall(r"\| ([\d,]+) ?(\w*) \| `(TORRES_\w+)` \|", table)

    assert len(rows) >= MIN_ROWS
    for number, unit, name in rows:
        assert int(number.replace(",", "")) * UNITS[unit] == setting(name), name


@pytest.mark.parametrize(("limit", "per_address"), [(400, 10), (10, 400)])
def test_streams_that_are_refused_take_no_place(limit: int, per_address: int) -> None:
    """With a limit of 400, up to all of 420 streams were refused."""
    streams = OpenStreams(limit, per_address)

    def stream() -> EventStream:
        return streams.open(StreamRequest(Topic.LIVE, "192.0.2.1"), lambda: None)

    opened = [stream() for _ in range(30)]  # nobody has read the refusals yet

    assert [each.is_open for each in opened] == [True] * 10 + [False] * 20
    streams.forget(opened[0])
    streams.forget(opened[29])
    assert stream().is_open
    assert not stream().is_open
