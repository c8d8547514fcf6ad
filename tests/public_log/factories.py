"""A service with a public log: matches are planned, dealt, played and rated."""

import json
from functools import partial
from itertools import count
from typing import Any

from ladder.dispatch.log_keeper import LogKeeper
from ladder.games import dealing, services
from ladder.games.models import Game, Match
from ladder.games.worker.play import AttemptEnd, play
from ladder.public_log import tree
from ladder.public_log.head_file import HeadFile
from ladder.public_log.keys import load_key
from ladder.public_log.models import LogHead
from ladder.public_log.sequencer import sequence
from tests.games import factories
from tests.games.factories import schedule_match
from torres.tlog.leaves import LeafKind

_moments = count(1e9)
"""Seconds: each tick is later than the leaves of the one before are kept waiting."""


def advance(keeper: LogKeeper | None = None) -> int:
    """Bring the log up to date, as a tick of the dispatcher does."""
    return (keeper or LogKeeper()).advance(next(_moments))


def sequence_all() -> int:
    """Number the leaves that wait, and deal, without the upkeep of a tick."""
    key = load_key()
    return sequence(key, HeadFile.of_service(), partial(dealing.deal, key))


def planned(seats: int = 2, **terms: Any) -> Match:
    """Plan a ladder match between new bots."""
    first = Game.objects.count()
    bots = [factories.bot(f"bot-{first}-{seat}") for seat in range(seats)]
    return schedule_match(
        Match.Kind.LADDER,
        services.MatchTerms("yucata", {}, factories.LIMITS, **terms),
        [factories.newest(bot) for bot in bots],
    )


def planned_together() -> list[Match]:
    """Plan two ladder matches of one deal."""
    terms = services.MatchTerms("yucata", {}, factories.LIMITS)
    bots = factories.bots(4)
    pairs = [[factories.newest(bot) for bot in pair] for pair in (bots[:2], bots[2:])]
    plans = [services.PlannedMatch(terms, pair) for pair in pairs]
    return services.schedule_matches(Match.Kind.LADDER, plans, shared_deals=True)


def played(match: Match | None = None) -> Game:
    """Plan, deal and play a game; return it."""
    match = match or planned()
    advance()
    game = match.games.get()
    assert play(game.pk, factories.worker()) == AttemptEnd.FINISHED
    advance()
    return Game.objects.select_related("match").get(pk=game.pk)


def leaves() -> list[dict[str, Any]]:
    """Return all leaves of the log."""
    size = LogHead.objects.get().size
    texts = tree.texts(range(size))
    return [flat(texts[number]) for number in range(size)]


def flat(text: bytes | str) -> dict[str, Any]:
    """Return the data of a leaf with its type."""
    leaf = json.loads(text)
    return {**leaf["data"], "type": leaf["type"]}


def of_kind(kind: LeafKind) -> list[dict[str, Any]]:
    return [leaf for leaf in leaves() if leaf["type"] == kind]
