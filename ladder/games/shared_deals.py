"""Matches that share a deal: which games have the same decks.

Matches of one deal have the same `deal_of`, also the first one, which names itself. A
match with decks of its own has None. The games of one match have the same decks, too.
"""

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from ladder.games.models import OPEN, Game, Match


def deal_of(match: str) -> Coalesce:
    """Return the expression for the deal of a match: the first match that plays it.

    `match` is the name of the column with the match.
    """
    return Coalesce(F(f"{match}__deal_of"), F(match))


def with_decks_of(match: Match) -> QuerySet[Game]:
    """Return all games that have the decks of a match, its own ones included."""
    if match.deal_of_id is None:
        return Game.objects.filter(match=match)
    return Game.objects.filter(match__deal_of=match.deal_of_id)


def needed_by(games: QuerySet[Game], match: str = "match") -> Q:
    """Return the condition that one of the games has the decks of an outer row.

    `match` is the name of the column with its match: "pk" if it is a match itself.
    """
    deal_of = "deal_of" if match == "pk" else f"{match}__deal_of"
    # Two conditions, because each of them has an index.
    return Q(Exists(games.filter(match=OuterRef(match)))) | Q(
        Exists(games.filter(match__deal_of=OuterRef(deal_of)))
    )


def undecided(match: str = "match") -> Q:
    """Return the condition that an open game has the decks of an outer row."""
    return needed_by(Game.objects.filter(status__in=OPEN), match)
