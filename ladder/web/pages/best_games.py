"""The best games of the day as cards: the final board, the margin, and tags."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.core.cache import cache
from django.utils.translation import gettext as _, ngettext

from engine.game import Scoring
from ladder.games import visibility as games
from ladder.games.models import Game, Seat
from ladder.web.pages import featured
from torres.common.errors import LadderError

TAGS_TTL_S = 24 * 3600
CLOSE = 3
"""A margin of at most this many points is close."""


@dataclass(frozen=True, slots=True)
class BestGame:
    """A finished game, its result in words, and why it is worth watching."""

    game: Game
    result: str
    tags: list[str]


def best_games(upsets: Mapping[int, float]) -> list[BestGame]:
    """Return the best games of the day; `upsets` are the numbers of some games."""
    numbers = featured.games_of_the_day()
    found = games.games().in_bulk(numbers)
    rows = [found[number] for number in numbers if number in found]
    return [
        BestGame(game, _result(seats), _tags(game, seats, upsets))
        for game in rows
        if len(seats := _by_rank(game)) > 1
    ]


def _by_rank(game: Game) -> list[Seat]:
    return sorted(game.seats.all(), key=lambda seat: (seat.rank or 0, -_score(seat)))


def _score(seat: Seat) -> int:
    return seat.score or 0


def _result(seats: Sequence[Seat]) -> str:
    first, second = seats[:2]
    names = [seat.submission.bot.name for seat in seats if seat.rank == first.rank]
    if len(names) > 1:
        return _("%(names)s share the first rank") % {
            "names": f" {_('and')} ".join(names)
        }
    margin = _score(first) - _score(second)
    text = ngettext(
        "%(name)s won by %(margin)s point", "%(name)s won by %(margin)s points", margin
    )
    return text % {"name": names[0], "margin": margin}


def _tags(game: Game, seats: Sequence[Seat], upsets: Mapping[int, float]) -> list[str]:
    tags = [_("upset")] if game.pk in upsets else []
    if abs(_score(seats[0]) - _score(seats[1])) <= CLOSE:
        tags.append(_("close"))
    if changes := _changes_of_lead(game):
        text = ngettext("lead changed once", "lead changed %(times)s times", changes)
        tags.append(text % {"times": changes})
    return tags


def _changes_of_lead(game: Game) -> int:
    """Return how often another seat led after a phase than before it."""
    key = f"changes-of-lead:{game.pk}:{game.fence}"
    known: int | None = cache.get(key)
    if known is None:
        known = _read_changes(game)
        cache.set(key, known, TAGS_TTL_S)
    return known


def _read_changes(game: Game) -> int:
    try:
        rows: list[Scoring] = json.loads(games.replay(game))["scoring"]
    except LadderError:  # it was voided or hidden a moment ago, or is damaged
        return 0
    leaders = [_leader(row["scores"]) for row in rows]
    return sum(one != other for one, other in pairwise(leaders))


def _leader(scores: Sequence[int]) -> int | None:
    """Return the seat that leads alone; None if none does."""
    best = max(scores)
    return scores.index(best) if scores.count(best) == 1 else None
