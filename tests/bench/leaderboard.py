# ruff: noqa: PLC0415 - Django is set up first
"""The leaderboard of the API: 50 of 5,000 rows, whole requests through WSGI.

A cached answer or a 304 may cost at most 1.5 times a trivial view of the REST
framework. An answer that is not cached has to be at least twice as fast as the same
page by a ModelSerializer. Run it by itself with `python -m tests.bench.leaderboard`.
"""

import io
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

ROWS = 5_000
PAGE = 50
ROUNDS = 200
BOARD = f"/api/v1/ladders/main/leaderboard/?limit={PAGE}"


def measure() -> list[tuple[str, float, str, bool]]:
    """Return rows of (name, ratio, target, True if the target is met)."""
    with _service() as get:
        from django.core.cache import cache

        etag = get(BOARD)[1]["ETag"]
        times = _medians(
            {
                "trivial": (lambda: None, lambda: get("/bench/trivial/")),
                "cached": (lambda: get(BOARD), lambda: get(BOARD)),
                "304": (lambda: get(BOARD), lambda: get(BOARD, etag)),
                "uncached": (cache.clear, lambda: get(BOARD)),
                "serializer": (cache.clear, lambda: get("/bench/serializer/")),
            }
        )
    cached = max(times["cached"], times["304"]) / times["trivial"]
    uncached = times["serializer"] / times["uncached"]
    micro = {name: f"{1e6 * t:.0f} µs" for name, t in times.items()}
    return [
        (f"cached or 304 / trivial view {micro}", cached, "≤ 1.5", cached <= 1.5),
        ("ModelSerializer / leaderboard uncached", uncached, "≥ 2", uncached >= 2),
    ]


Calls = dict[str, tuple[Callable[[], object], Callable[[], object]]]


def _medians(calls: Calls) -> dict[str, float]:
    """Return the median CPU time of each call, in seconds, without its preparation.

    The calls take turns, so that a busy moment of the machine slows all of them.
    """
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, (prepare, call) in calls.items():
            prepare()
            began = time.process_time()
            call()
            spent[name].append(time.process_time() - began)
    return {name: median(times) for name, times in spent.items()}


@contextmanager
def _service() -> Iterator[Callable[..., tuple[bytes, dict[str, str]]]]:
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
