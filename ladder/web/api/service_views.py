"""The state of the service over REST: the workers together, and signs of life.

They say nothing about single machines. Operators read about those elsewhere.
"""

from collections import Counter
from datetime import timedelta
from typing import Any

from django.db.models import Max
from django.db.models.functions import Now
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ladder.bots.models import Submission
from ladder.games import selectors
from ladder.games.models import Game, GameStatus
from ladder.moderation.models import ServicePart
from ladder.service import service_parts
from torres.runner.sandbox import LEVELS
from torres.runner.versions import versions

RATE_WINDOW_MINUTES = 10
# The others, for example of Python, are of use to attackers only. `languages/` has
# those of compilers and interpreters.
SHOWN_VERSIONS = {"rules", "service"}


class WorkersSerializer(serializers.Serializer[Any]):
    """The offers of all live workers together."""

    workers = serializers.IntegerField(help_text="Live workers that are not drained.")
    slots = serializers.IntegerField(help_text="Games that they play at once.")
    sandbox = serializers.DictField(
        child=serializers.IntegerField(), help_text="Workers by level of the sandbox."
    )
    languages = serializers.DictField(
        child=serializers.IntegerField(), help_text="Workers by language of bots."
    )
    versions = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Versions of the software that they run, by its name.",
    )


class StatusSerializer(serializers.Serializer[Any]):
    """The present state of the service. Times are null if there was nothing yet."""

    plays = serializers.BooleanField(
        help_text="The dispatcher reports, and there is a worker for games."
    )
    dispatcher_seen_at = serializers.DateTimeField(allow_null=True)
    worker_seen_at = serializers.DateTimeField(allow_null=True)
    slots = serializers.IntegerField()
    scheduled = serializers.IntegerField(help_text="Games that wait for a worker.")
    running = serializers.IntegerField()
    games_per_minute = serializers.FloatField(
        help_text=f"Games that finished in {RATE_WINDOW_MINUTES} minutes, divided by"
        " these."
    )
    last_game_at = serializers.DateTimeField(
        allow_null=True, help_text="The end of the last game."
    )
    waiting_uploads = serializers.IntegerField(
        help_text="Uploads that wait for their validation."
    )
    versions = serializers.DictField(
        child=serializers.CharField(),
        help_text="Versions of the service's software, of the rules and the formats.",
    )


class WorkerSums(APIView):
    """The offers of all workers together: slots, sandbox, languages, versions."""

    @extend_schema(responses=WorkersSerializer)
    def get(self, _request: Request) -> Response:
        workers = list(selectors.live_workers())
        found: dict[str, set[str]] = {}
        for worker in workers:
            for name in SHOWN_VERSIONS & worker.versions.keys():
                found.setdefault(name, set()).add(str(worker.versions[name]))
        levels = Counter(worker.sandbox for worker in workers)
        languages = Counter(name for worker in workers for name in worker.languages)
        sums = {
            "workers": len(workers),
            "slots": sum(worker.slots for worker in workers),
            "sandbox": {level: levels[level] for level in LEVELS if levels[level]},
            "languages": dict(sorted(languages.items())),
            "versions": {name: sorted(each) for name, each in sorted(found.items())},
        }
        return Response(WorkersSerializer(sums).data)


class ServiceStatus(APIView):
    """The queue, the games per minute, and the last signs of life of the service."""

    @extend_schema(responses=StatusSerializer)
    def get(self, _request: Request) -> Response:
        workers = list(selectors.live_players())
        dispatcher = ServicePart.objects.filter(name=service_parts.DISPATCHER).first()
        is_directed = dispatcher is not None and not service_parts.is_silent(dispatcher)
        window = timedelta(minutes=RATE_WINDOW_MINUTES)
        recent = Game.objects.filter(
            status=GameStatus.FINISHED, finished_at__gt=Now() - window
        )
        waiting = Submission.objects.filter(status=Submission.Status.WAITING)
        status = {
            "plays": is_directed and bool(workers),
            "dispatcher_seen_at": dispatcher and dispatcher.seen_at,
            "worker_seen_at": max((each.seen_at for each in workers), default=None),
            "slots": sum(worker.slots for worker in workers),
            "scheduled": _count(GameStatus.SCHEDULED),
            "running": _count(GameStatus.RUNNING),
            "games_per_minute": recent.count() / RATE_WINDOW_MINUTES,
            "last_game_at": Game.objects.aggregate(at=Max("finished_at"))["at"],
            "waiting_uploads": waiting.count(),
            "versions": versions(),
        }
        return Response(StatusSerializer(status).data)


def _count(status: GameStatus) -> int:
    return Game.objects.filter(status=status).count()
