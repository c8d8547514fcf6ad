"""The matchmaker at its ladder: what it knows is read from rows, what it makes written.

A `Desk` keeps a season's field between two looks, so that a look reads only the ratings
that moved. What it keeps is a memory and no truth: a new desk, or a second one, makes
good matches too, and whoever may not play (any more) is refused when a match is made.
"""

import secrets
import time
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from random import Random

from django.db import transaction

from ladder.bots.models import Bot, Submission
from ladder.games import services as games
from ladder.games.models import Match
from ladder.games.services import MatchTerms as GameTerms
from ladder.ratings import selectors
from ladder.ratings.core.pairing import Matchmaker, PairingTerms, Seating
from ladder.ratings.core.pool import PoolEntry
from ladder.ratings.core.trueskill import Parameters
from ladder.ratings.models import Pairing, Season
from ladder.ratings.seasons import finalists

RELOAD_S, FINALS_S = 60.0, 5.0
"""So often everything is read again: bans, voids, names, and who still contends."""


class MatchmakingSession:
    """Makes the matches of one season."""

    def __init__(self, rng: Random | None = None) -> None:
        self._rng = rng or Random(secrets.randbits(64))  # noqa: S311 -- who plays is no secret
        self._maker: Matchmaker | None = None
        self._terms: PairingTerms | None = None
        self._seq = 0
        self._loaded = float("-inf")
        self._busy: set[int] = set()

    def pair(self, season: Season, wanted: int) -> int:
        """Make up to `wanted` matches; return how many were made."""
        maker, made = self._look(season), 0
        while made < wanted and (table := maker.next_table()):
            # Counted anew at the next look, also where the match comes to nothing.
            self._busy.update(candidate.bot for candidate in table.seats)
            made += _make(season, table, maker)
        return made

    def _look(self, season: Season) -> Matchmaker:
        terms = terms_of(season)
        now = time.monotonic()
        if self._maker is None or terms != self._terms:
            self._maker, self._terms = self._open(season, terms), terms
            self._loaded = now
        elif now - self._loaded >= (FINALS_S if _finals(season) else RELOAD_S):
            self._reload(season, self._maker)
            self._loaded = now
        else:
            self._catch_up(season, self._maker)
        self._count_open(season, self._maker)
        return self._maker

    def _open(self, season: Season, terms: PairingTerms) -> Matchmaker:
        maker = Matchmaker(terms, self._rng)
        known = _known(season)
        maker.field.start(candidate for _, candidate in known)
        self._seq = max((seq for seq, _ in known), default=0)
        for table in _tables(season):
            maker.recall(table)
        return maker

    def _catch_up(self, season: Season, maker: Matchmaker) -> None:
        """Read what moved since; in finals nobody enters this way."""
        for seq, candidate in selectors.candidates(season, after=self._seq):
            if not _finals(season) or maker.field.get(candidate.bot):
                maker.put(candidate)
            self._seq = max(self._seq, seq)

    def _reload(self, season: Season, maker: Matchmaker) -> None:
        known = {c.bot: (seq, c) for seq, c in _known(season)}
        for bot in maker.field.bots() - known.keys():
            maker.field.drop(bot)
        for bot, (seq, candidate) in known.items():
            player = maker.field.get(bot)
            if player is None or player.candidate != candidate:
                maker.put(candidate)
            self._seq = max(self._seq, seq)

    def _count_open(self, season: Season, maker: Matchmaker) -> None:
        counts = selectors.open_seats(season)
        for bot in self._busy | counts.keys():
            if player := maker.field.get(bot):
                player.open = counts.get(bot, 0)
        self._busy = set(counts)


def terms_of(season: Season) -> PairingTerms:
    """Return what the ladder asks for, with the parameters that are in force."""
    ladder = season.ladder
    return PairingTerms(
        ladder.tables, Parameters(**season.parameters), ladder.duplicate
    )


def _finals(season: Season) -> bool:
    return season.status == Season.Status.FINALS


def _known(season: Season) -> list[tuple[int, PoolEntry]]:
    """List who may be paired: everybody, or in finals those who still contend."""
    known = list(selectors.candidates(season))
    if not _finals(season):
        return known
    contending = finalists(season)
    return [(seq, c) for seq, c in known if c.bot in contending]


def _tables(season: Season) -> Iterator[list[int]]:
    """Go through the latest tables, oldest first: bots by seat."""
    for _, seats in groupby(selectors.latest_seats(season), key=itemgetter(0)):
        yield [bot for _, bot in seats]


@transaction.atomic
def _make(season: Season, table: Seating, maker: Matchmaker) -> bool:
    """Write the match; False if somebody may not play any more, who then leaves."""
    wanted = [candidate.submission for candidate in table.seats]
    found = Submission.objects.filter(
        status__in=selectors.playable(season), bot__status=Bot.Status.ACTIVE
    ).in_bulk(wanted)
    for candidate in table.seats:
        if candidate.submission not in found:
            maker.field.drop(candidate.bot)
    if len(found) < len(wanted):
        return False
    ladder = season.ladder
    terms = GameTerms(
        ladder.ruleset,
        ladder.switches,
        ladder.limits,
        ladder=ladder.slug,
        why=table.why,
    )
    match = games.schedule_match(
        Match.Kind.LADDER,
        terms,
        [found[submission] for submission in wanted],
        duplicate=ladder.duplicate,
    )
    Pairing.objects.create(season=season, match=match)
    return True
