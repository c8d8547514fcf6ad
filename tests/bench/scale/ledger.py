"""Measures one void and the check of a whole ledger, which grow with the season."""

from collections.abc import Iterator

from django.db import connection, transaction

from ladder.ratings import corrections, rebuild, voids
from ladder.ratings.models import Entry, Season
from tests.bench.scale.meter import cost_of_one
from tests.bench.scale.report import MeasuredRow
from torres.rating.ledger import EntryKind

NEWEST_TARGET_MS = 1000
OLDEST_TARGET_MS = 60_000
CHECK_TARGET_MS = 600_000


def ledger_rows(season: Season) -> Iterator[MeasuredRow]:
    """Yield one void of the newest and of the oldest game, and the check.

    Each is measured once, because it takes minutes with a million games.
    """
    rated = Entry.objects.filter(season=season, kind=EntryKind.GAME)
    for name, target, order in (
        ("newest", NEWEST_TARGET_MS, "-seq"),
        ("oldest", OLDEST_TARGET_MS, "seq"),
    ):
        game = rated.order_by(order).values_list("game", flat=True)[0]
        assert game is not None
        yield _void_row(season, game, f"one void, the {name} game", target)
    cost = cost_of_one(lambda: _check(season))
    yield MeasuredRow("rebuild_ratings --check", CHECK_TARGET_MS, "ms", *cost)


def _void_row(season: Season, game: int, name: str, target: int) -> MeasuredRow:
    """Void a game and take it out of the ratings, then roll everything back."""

    def void() -> None:
        voids.void(game, "to measure")
        if not corrections.fold_voids(season.pk):
            raise RuntimeError(f"The void of game {game} was not folded.")

    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        cost = cost_of_one(void)
        transaction.set_rollback(True)
    return MeasuredRow(name, target, "ms", *cost)


def _check(season: Season) -> None:
    if complaints := rebuild.check(season).complaints:
        raise RuntimeError("; ".join(complaints))
