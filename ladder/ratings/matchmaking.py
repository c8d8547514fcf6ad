"""Make the matches of a season: connect the matchmaker with the database.

A `MatchmakingSession` keeps a season's pool of bots in memory between two calls, so
that a call reads only the ratings that changed. The pool is a cache: a new session, or
a second one at the same time, makes good matches, too. A bot that may no longer play is
refused when its match is written.

All steps of a session are written to the public log with the matches that follow from
them, so `torres audit --matchmaking` makes the same matches again.
"""

import secrets
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter

from django.db import transaction

from ladder.bots.models import Bot, Submission
from ladder.bots.selectors import belongs_to_somebody
from ladder.games import services as games
from ladder.games.models import Match
from ladder.games.services import MatchTerms, PlannedMatch
from ladder.public_log import tree
from ladder.ratings import facts, selectors
from ladder.ratings.models import Membership, Pairing, Season
from ladder.ratings.seasons import finalists, locked_status
from ladder.ratings.selectors import EligibleBot
from torres.common.json_object import JsonObject
from torres.rating.description import check_ladder
from torres.rating.pairing import PairingTerms, Seating
from torres.rating.recorded import UNWRITTEN, RecordedMatchmaker
from torres.rating.trueskill import Parameters
from torres.tlog.merkle import Frontier

RELOAD_S = 60.0
"""The whole pool is read again this often: bans, voids, renames, bots that return."""
FINALS_RELOAD_S = 5.0
"""The same in finals, where bots are eliminated."""
SESSION_BYTES = 8
LONG_AGO = datetime.fromtimestamp(0, UTC)


class SeasonMovedOn(Exception):
    """The season was frozen or archived after it was read. The match is not written."""


class MatchmakingSession:
    """Make the matches of one season.

    The public log knows a session by a random number. It gets another number when the
    terms of the ladder change, because its pool begins anew.
    """

    def __init__(self) -> None:
        self._number = ""
        self._matchmaker: RecordedMatchmaker | None = None
        self._terms: PairingTerms | None = None
        self._seq = 0
        self._loaded_at = float("-inf")
        self._busy: set[int] = set()
        self._unrated_until = LONG_AGO

    def pair(self, season: Season, wanted: int) -> int:
        """Make up to `wanted` matches; return how many were made.

        1. Bring the pool up to date (`_refresh`).
        2. Let the matchmaker choose seatings, which charges their bots their turns.
        3. Write the matches, except those with a bot that may no longer play.
        4. Repeat from 2 until enough matches are made or no seating is left.

        Raises BadLadder if the ladder cannot be played as it is described, because
        each of its matches would become a dead one.
        """
        check_ladder(season.ladder.description())
        matchmaker = self._refresh(season)
        made = 0
        while made < wanted:
            seatings = matchmaker.next_seatings(wanted - made)
            if not seatings:
                break
            # The next refresh counts the open games of these bots again, even if a
            # match is not written.
            for seating in seatings:
                self._busy.update(profile.bot for profile in seating.seats)
            try:
                made += self._write_matches(season, seatings, matchmaker)
            except SeasonMovedOn:
                break
        return made

    def _refresh(self, season: Season) -> RecordedMatchmaker:
        """Bring the pool up to date.

        Everything is read at first, after a change of terms, and from time to time.
        Otherwise only the ratings that changed are read.
        """
        terms = _terms(season)
        now = time.monotonic()
        reload_s = FINALS_RELOAD_S if _in_finals(season) else RELOAD_S
        if self._matchmaker is None or terms != self._terms:
            self._matchmaker = self._open(season, terms)
            self._terms = terms
            self._loaded_at = now
        elif now - self._loaded_at >= reload_s:
            self._reload(season, self._matchmaker)
            self._loaded_at = now
        else:
            self._catch_up(season, self._matchmaker)
        self._count_open_games(season, self._matchmaker)
        return self._matchmaker

    def _open(self, season: Season, terms: PairingTerms) -> RecordedMatchmaker:
        self._number = secrets.token_hex(SESSION_BYTES)
        matchmaker = RecordedMatchmaker(
            terms, season.ladder.slug, season.number, _newest_tree
        )
        bots = _pairable(season)
        matchmaker.fill(bots)
        self._seq = max((seq for seq, _ in bots), default=0)
        matchmaker.remember(_latest_seatings(season))
        self._unrated_until = LONG_AGO
        self._charge_unrated(season, matchmaker, dead_games=1)
        return matchmaker

    def _catch_up(self, season: Season, matchmaker: RecordedMatchmaker) -> None:
        """Read the ratings that changed. In finals no bot enters the pool this way."""
        for seq, profile in selectors.eligible_bots(season, after=self._seq):
            if not _in_finals(season) or matchmaker.pool.get(profile.bot):
                matchmaker.update(seq, profile)
            self._seq = max(self._seq, seq)
        self._charge_unrated(season, matchmaker)

    def _reload(self, season: Season, matchmaker: RecordedMatchmaker) -> None:
        bots = {profile.bot: (seq, profile) for seq, profile in _pairable(season)}
        for bot in matchmaker.pool.bots() - bots.keys():
            matchmaker.remove(bot)
        for bot, (seq, profile) in bots.items():
            candidate = matchmaker.pool.get(bot)
            if candidate is None or candidate.profile != profile:
                matchmaker.update(seq, profile)
            self._seq = max(self._seq, seq)
        self._charge_unrated(season, matchmaker)

    def _charge_unrated(
        self, season: Season, matchmaker: RecordedMatchmaker, *, dead_games: int = 0
    ) -> None:
        """Charge the bots a turn for each attempt that failed in their seat.

        A dead game costs the turns `dead_games`: only a new session has not charged it
        already, when the match was made.
        """
        for turn in selectors.unrated_turns(season, after=self._unrated_until):
            turns = dead_games if turn.is_dead_game else 1
            matchmaker.charge_unrated(turn.bot, turn.submission, turns)
            self._unrated_until = turn.ended_at

    def _count_open_games(self, season: Season, matchmaker: RecordedMatchmaker) -> None:
        counts = selectors.open_seats(season)
        matchmaker.count_open({bot: counts[bot] for bot in self._busy | counts.keys()})
        self._busy = set(counts)

    @transaction.atomic
    def _write_matches(
        self,
        season: Season,
        seatings: Sequence[Seating],
        matchmaker: RecordedMatchmaker,
    ) -> int:
        """Write the matches, their pairings and the steps; return how many matches.

        A match is not written if one of its bots may no longer play. Such bots leave
        the pool. Raises SeasonMovedOn if the season has another status than when it was
        read.
        """
        if locked_status(season.pk) != season.status:
            raise SeasonMovedOn
        playable = _playable(season, seatings)
        matches = games.schedule_matches(
            Match.Kind.LADDER,
            [
                PlannedMatch(
                    _match_terms(season, seating.why),
                    [playable[profile.submission] for profile in seating.seats],
                )
                for seating in seatings
                if _is_playable(seating, playable)
            ],
            duplicate=season.ladder.duplicate,
            shared_deals=season.ladder.shared_deals,
        )
        Pairing.objects.bulk_create(
            Pairing(season=season, match=match) for match in matches
        )
        numbers = iter(matches)
        matchmaker.written(
            [
                next(numbers).pk if _is_playable(seating, playable) else UNWRITTEN
                for seating in seatings
            ]
        )
        for profile in (profile for seating in seatings for profile in seating.seats):
            if profile.submission not in playable:
                matchmaker.remove(profile.bot)
        facts.record_pairings(season, self._number, matchmaker)
        return len(matches)


def _terms(season: Season) -> PairingTerms:
    """Return the ladder's settings, with the parameters that are in force."""
    ladder = season.ladder
    return PairingTerms(
        ladder.tables, Parameters(**season.parameters), ladder.duplicate
    )


def _in_finals(season: Season) -> bool:
    return season.status == Season.Status.FINALS


def _pairable(season: Season) -> list[EligibleBot]:
    """Return the bots that may be paired: all, or in finals those not eliminated."""
    bots = list(selectors.eligible_bots(season))
    if not _in_finals(season):
        return bots
    remaining = finalists(season)
    return [bot for bot in bots if bot.profile.bot in remaining]


def _latest_seatings(season: Season) -> dict[int, list[int]]:
    """Return the bots of the latest matches by seat, the oldest match first."""
    return {
        match: [bot for _, bot in seats]
        for match, seats in groupby(selectors.latest_seats(season), key=itemgetter(0))
    }


def _newest_tree() -> tuple[int, bytes]:
    """Return the size and the root of the newest tree of the public log."""
    head = tree.head()
    return (head.size, bytes(head.root)) if head else (0, Frontier().root())


def _playable(season: Season, seatings: Sequence[Seating]) -> dict[int, Submission]:
    """Return the submissions of these seatings that may play now."""
    wanted = {profile.submission for seating in seatings for profile in seating.seats}
    return (
        Submission.objects.filter(
            belongs_to_somebody("bot__"),
            status__in=selectors.playable_statuses(season),
            bot__status=Bot.Status.ACTIVE,
            bot__memberships__ladder=season.ladder_id,
            bot__memberships__status=Membership.Status.ACTIVE,
        )
        .defer("log", "report")
        .in_bulk(wanted)
    )


def _is_playable(seating: Seating, playable: dict[int, Submission]) -> bool:
    return all(profile.submission in playable for profile in seating.seats)


def _match_terms(season: Season, why: JsonObject) -> MatchTerms:
    ladder = season.ladder
    return MatchTerms(
        ladder.ruleset, ladder.switches, ladder.limits, ladder=ladder.slug, why=why
    )
