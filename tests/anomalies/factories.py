"""A season of made-up games, in whose ledger somebody cheats."""

import io
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.models import F
from django.utils import timezone

from ladder.bots import submissions
from ladder.bots.models import Bot, Submission
from ladder.games.models import Game, Match
from ladder.ratings.models import Entry, Season
from tests.fill.command import Command
from tests.games import factories
from torres.rating.ledger import EntryKind

BOTS = 10
GAMES = 1600


def season_of_strangers(games: int = GAMES) -> Season:
    """Fill the database. Then every bot has an owner of its own."""
    call_command(Command(), bots=BOTS, games=games, busiest=games // 4, tournaments=0)
    for bot in strangers():
        bot.owner = User.objects.create(username=f"owner-of-{bot.slug}")
        bot.save()
    return Season.objects.get()


def strangers() -> list[Bot]:
    return list(Bot.objects.filter(house=False).order_by("pk"))


def rated_entries(season: Season) -> Iterator[Entry]:
    yield from Entry.objects.filter(season=season, kind=EntryKind.GAME).order_by("seq")


def regular_companions(season: Season) -> list[tuple[int, int]]:
    """Return the pairs of strangers with the most tables of 3 and 4 in common first."""
    tables: Counter[tuple[int, int]] = Counter()
    own = {bot.pk for bot in strangers()}
    for entry in rated_entries(season):
        bots = sorted(seat["bot"] for seat in entry.inputs["seats"])
        if len(bots) > 2:
            tables.update(pair for pair in combinations(bots, 2) if own >= set(pair))
    return [pair for pair, _ in tables.most_common()]


def rank(entry: Entry, first: list[int], last: list[int]) -> None:
    """Let these bots be the first, or the last, of a rated game."""
    seats = entry.inputs["seats"]

    def key(seat: dict[str, Any]) -> tuple[int, int]:
        group = (seat["bot"] in last) - (seat["bot"] in first)
        return group, seat["rank"]

    for place, seat in enumerate(sorted(seats, key=key), start=1):
        seat["rank"] = place
    entry.save()


def let_collude(season: Season, one: int, other: int) -> None:
    """Let two bots be the first two of each table of 3 or 4 at which both sit."""
    for entry in rated_entries(season):
        bots = [seat["bot"] for seat in entry.inputs["seats"]]
        if len(bots) > 2 and {one, other} <= set(bots):
            rank(entry, [one, other], [])


def let_hold_back(season: Season, bot: int) -> int:
    """Let a bot's last submission lose half of its games, some by forfeit.

    Return the submission.
    """
    own = Submission.objects.filter(bot=bot).latest("number").pk
    entries = [
        entry
        for entry in rated_entries(season)
        if own in [seat["submission"] for seat in entry.inputs["seats"]]
    ]
    for number, entry in enumerate(entries):
        seat = next(s for s in entry.inputs["seats"] if s["submission"] == own)
        if number < len(entries) // 2:
            seat["fault"] = "" if number % 4 else "timeout"
            rank(entry, [], [bot])
        else:
            rank(entry, [bot], [])
    return own


def upload(bot: Bot, content: str | bytes) -> Submission:
    """Upload the text of a file, or an archive. It is ready at once."""
    name = "bot.py" if isinstance(content, str) else "bot.zip"
    data = content.encode() if isinstance(content, str) else content
    submission = submissions.submit(bot, io.BytesIO(data), name)
    Submission.objects.filter(pk=submission.pk).update(
        status=Submission.Status.RETIRED, ready_at=timezone.now()
    )
    submission.refresh_from_db()
    return submission


def add_variants(season: Season, owner: User, count: int) -> list[Submission]:
    """Give an owner a bot whose variants play duels against a house bot in turn."""
    bot = Bot.objects.create(slug="variants", name="variants", owner=owner)
    opponent = Submission.objects.filter(bot__house=True).earliest("pk")
    tries = [factories.submission(bot) for _ in range(count)]
    game = Game.objects.filter(status="finished").first()
    assert game is not None
    for number in range(count * 12):
        seats = [tries[number % count], opponent]
        match = Match.objects.get(pk=game.match_id)
        match.pk = None
        match.save()
        game.pk, game.match = None, match
        game.save()
        Season.objects.filter(pk=season.pk).update(head=F("head") + 1)
        season.refresh_from_db()
        places = [1, 2] if number % 7 < 4 else [2, 1]
        Entry.objects.create(
            season=season,
            seq=season.head,
            kind=EntryKind.GAME,
            game=game,
            inputs={
                "seats": [
                    {
                        "bot": seat.bot_id,
                        "submission": seat.pk,
                        "rank": place,
                        "fault": "",
                    }
                    for seat, place in zip(seats, places, strict=True)
                ]
            },
        )
    return tries
