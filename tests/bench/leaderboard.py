# ruff: noqa: PLC0415 - Django is set up first
"""The leaderboard of the API: 50 of 5,000 rows, whole requests through WSGI.

A cached answer or a 304 may cost at most 1.5 times a trivial view of the REST
framework. The same page by a ModelSerializer has to take at least 1.2 times as long as
an answer that is not cached. Run it by itself with `python -m
tests.bench.leaderboard`.

There are two caches. Anonymous visitors share whole responses (`SharedAnswers`); the
view caches its document for visitors with a token. Each is measured with the other one
switched off or emptied. The rows without a cache have neither.
"""

import io
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any, NamedTuple

from tests.bench.sizes import size

ROWS = size(5_000, short=60)
PAGE = 50
ROUNDS = size(200, short=2)
BOARD = f"/api/v1/ladders/main/leaderboard/?limit={PAGE}"
TRIVIAL = "/bench/trivial/"
SERIALIZER = f"/bench/serializer/?limit={PAGE}"


class CpuTimes(NamedTuple):
    """The median and the least CPU time of some calls, in seconds."""

    median: float
    least: float


def measure() -> list[tuple[str, float, str, bool]]:
    """Return rows of (name, ratio, target, True if the target is met)."""
    with _service() as get:
        shared = _shared_times(get)
        own = _own_times(get)
    return [
        _at_most(1.5, shared, "shared response or 304", ("cached", "304")),
        _at_most(1.5, own, "document cached by the view or 304", ("cached", "304")),
        _at_least(1.2, own),
    ]


Get = Callable[..., tuple[bytes, dict[str, str]]]


def _shared_times(get: Get) -> dict[str, CpuTimes]:
    """Measure the responses that anonymous visitors share."""
    etag = get(BOARD)[1]["ETag"]
    return _times(
        {
            "trivial": (lambda: get(TRIVIAL), lambda: get(TRIVIAL)),
            "cached": (lambda: get(BOARD), lambda: get(BOARD)),
            "304": (lambda: get(BOARD), lambda: get(BOARD, etag)),
        }
    )


def _own_times(get: Get) -> dict[str, CpuTimes]:
    """Measure the view, as a visitor with a token meets it: nothing is shared."""
    from django.core.cache import caches
    from django.test import override_settings

    def warm(address: str) -> Callable[[], None]:
        def prepare() -> None:
            get(address)
            get(address)

        return prepare

    def forget(address: str) -> Callable[[], None]:
        def prepare() -> None:
            get(address)  # so that the processor's caches hold this code
            for cache in caches.all():
                cache.clear()

        return prepare

    with override_settings(TORRES_FRESH_SECONDS=0):
        etag = get(BOARD)[1]["ETag"]
        return _times(
            {
                "trivial": (warm(TRIVIAL), lambda: get(TRIVIAL)),
                "cached": (warm(BOARD), lambda: get(BOARD)),
                "304": (warm(BOARD), lambda: get(BOARD, etag)),
                "uncached": (forget(BOARD), lambda: get(BOARD)),
                "serializer": (forget(SERIALIZER), lambda: get(SERIALIZER)),
            }
        )


def _at_most(
    most: float, times: dict[str, CpuTimes], what: str, names: tuple[str, ...]
) -> tuple[str, float, str, bool]:
    ratio = max(times[name].median for name in names) / times["trivial"].median
    figures = _figures(times, ("trivial", *names))
    return f"{what} / trivial view {figures}", ratio, f"≤ {most:g}", ratio <= most


def _at_least(least: float, times: dict[str, CpuTimes]) -> tuple[str, float, str, bool]:
    ratio = times["serializer"].median / times["uncached"].median
    figures = _figures(times, ("serializer", "uncached"))
    what = f"ModelSerializer / leaderboard uncached {figures}"
    return what, ratio, f"≥ {least:g}", ratio >= least


def _figures(times: dict[str, CpuTimes], names: tuple[str, ...]) -> str:
    parts = [
        f"{name} {1e6 * times[name].median:.0f} (least {1e6 * times[name].least:.0f})"
        for name in names
    ]
    return f"[µs: {', '.join(parts)}]"


Calls = dict[str, tuple[Callable[[], object], Callable[[], object]]]


def _times(calls: Calls) -> dict[str, CpuTimes]:
    """Return the CPU time of each call without its preparation.

    The calls take turns, so that a busy moment of the machine slows all of them. Each
    preparation sends the same request, so that no call pays for the one before.
    """
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, (prepare, call) in calls.items():
            prepare()
            began = time.process_time()
            call()
            spent[name].append(time.process_time() - began)
    return {name: CpuTimes(median(each), min(each)) for name, each in spent.items()}


@contextmanager
def _service() -> Iterator[Get]:
    """Set up a service with a large ladder; yield a function that sends a GET."""
    with tempfile.TemporaryDirectory() as data:
        os.environ |= {"TORRES_DATA": data, "TORRES_RATE_ANONYMOUS": "100000000"}
        os.environ["DJANGO_SETTINGS_MODULE"] = "ladder.settings"
        import django

        django.setup()
        from django.core.management import call_command
        from django.core.wsgi import get_wsgi_application

        call_command("migrate", verbosity=0)
        _fill()
        _add_peers()
        application = get_wsgi_application()

        def get(address: str, etag: str = "") -> tuple[bytes, dict[str, str]]:
            path, _, query = address.partition("?")
            response_headers: dict[str, str] = {}
            environ = {
                "REQUEST_METHOD": "GET",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "SERVER_NAME": "localhost",
                "SERVER_PORT": "80",
                "REMOTE_ADDR": "127.0.0.1",
                "wsgi.input": io.BytesIO(),
                "wsgi.url_scheme": "http",
            }
            if etag:
                environ["HTTP_IF_NONE_MATCH"] = etag
            body = application(
                environ, lambda _, headers: response_headers.update(headers)
            )
            return b"".join(body), response_headers

        yield get


def _fill() -> None:
    from ladder.bots.models import Bot, Submission
    from ladder.ratings.models import Rating
    from tests.factories import make_ladder

    season = make_ladder()
    Bot.objects.bulk_create(Bot(slug=f"b{k}", name=f"Bot {k}") for k in range(ROWS))
    bots = list(Bot.objects.all())
    Submission.objects.bulk_create(
        Submission(bot=bot, number=1, digest="0" * 64, size=1) for bot in bots
    )
    Rating.objects.bulk_create(
        Rating(
            season=season,
            bot=submission.bot,
            submission=submission,
            mu=10 + submission.bot_id % 997 / 30,
            sigma=1 + submission.bot_id % 89 / 40,
            seq=submission.bot_id,
        )
        for submission in Submission.objects.select_related("bot")
    )


def _add_peers() -> None:
    """Add a trivial view, and the leaderboard as a plain ModelSerializer."""
    from django.urls import path
    from rest_framework import generics, serializers
    from rest_framework.pagination import LimitOffsetPagination
    from rest_framework.response import Response
    from rest_framework.views import APIView

    from ladder import urls
    from ladder.ratings.models import Rating

    class Trivial(APIView):
        def get(self, _request: Any) -> Response:
            return Response({"ok": True})

    class Row(serializers.ModelSerializer[Rating]):
        bot = serializers.CharField(source="bot.slug")
        name = serializers.CharField(source="bot.name")
        house = serializers.BooleanField(source="bot.house")
        status = serializers.CharField(source="bot.status")
        submission = serializers.IntegerField(source="submission.number")

        class Meta:
            model = Rating
            fields = [
                "bot",
                "name",
                "house",
                "status",
                "submission",
                "mu",
                "sigma",
                "rating",
                "games",
                "forfeits",
            ]

    class Pages(LimitOffsetPagination):
        default_limit = PAGE

    class Plain(generics.ListAPIView[Rating]):
        queryset = Rating.objects.select_related("bot", "submission").order_by(
            "-rating", "bot"
        )
        serializer_class = Row
        pagination_class = Pages
        filter_backends: list[Any] = []

    urls.urlpatterns[:0] = [
        path("bench/trivial/", Trivial.as_view()),
        path("bench/serializer/", Plain.as_view()),
    ]


if __name__ == "__main__":
    for what, ratio, target, holds in measure():
        print(f"{ratio:6.2f}  {target:7} {'ok  ' if holds else 'MISS'} {what}")
