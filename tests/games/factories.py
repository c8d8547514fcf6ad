"""Rows for these tests: bots, submissions, matches, workers."""

import hashlib
from collections.abc import Sequence

from django.contrib.auth.models import User
from django.utils import timezone

from ladder.bots.models import Bot, Submission
from ladder.games import services
from ladder.games.models import Game, Match, Worker
from ladder.games.services import MatchTerms, PlannedMatch
from ladder.games.worker import registry

LIMITS = {
    "memory_mb": 256,
    "pids": 64,
    "tmp_mb": 16,
    "line_bytes": 65536,
    "output_bytes": 1048576,
    "start_ms": 10000,
    "move_ms": 1000,
    "bank_ms": 10000,
}
TERMS = MatchTerms("yucata", {}, LIMITS)


def person(name: str) -> User:
    return User.objects.get_or_create(username=name)[0]


def submission(bot: Bot, digest: str = "") -> Submission:
    number = bot.submissions.count() + 1
    bot.submissions.filter(status="ready").update(status="retired")
    text = digest or hashlib.sha256(f"{bot.slug} {number}".encode()).hexdigest()
    return Submission.objects.create(
        bot=bot,
        number=number,
        digest=text,
        status=Submission.Status.READY,
        language="python",
        entry="bot.py",
        size=100,
        ready_at=timezone.now(),
    )


def bot(slug: str, owner: str | None = None, *, ready: bool = True) -> Bot:
    """Make a bot with an owner of its own and one ready submission."""
    user = person(owner or f"owner-of-{slug}")
    new = Bot.objects.create(slug=slug, name=slug, owner=user)
    if ready:
        submission(new)
    return new


def bots(count: int) -> list[Bot]:
    return [bot(f"bot-{k}") for k in range(count)]


def newest(of: Bot) -> Submission:
    return of.submissions.order_by("-number")[0]


def schedule_match(
    kind: Match.Kind, terms: MatchTerms, seats: Sequence[Submission], **options: object
) -> Match:
    """Schedule one match, with the options of `services.schedule_matches`."""
    planned = [PlannedMatch(terms, seats)]
    (scheduled,) = services.schedule_matches(kind, planned, **options)  # type: ignore[arg-type]
    return scheduled


def match(players: Sequence[Bot], **options: object) -> Match:
    seats = [newest(player) for player in players]
    return schedule_match(Match.Kind.CHALLENGE, TERMS, seats, **options)


def game(seats: int = 2) -> Game:
    """Schedule one game of new bots."""
    bots_before = Bot.objects.count()
    players = [bot(f"bot-{bots_before + seat}") for seat in range(seats)]
    return match(players).games.get()


def worker(name: str = "a", host: str = "") -> int:
    """Return the id of a worker; add it if there is none.

    Without a host it belongs to this installation.
    """
    place = f"{host}:/data" if host else registry.installation()
    row, _ = Worker.objects.get_or_create(
        name=f"{place}#{name}", defaults={"host": host or "here"}
    )
    return row.pk
