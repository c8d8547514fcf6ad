"""The jobs of ratings. Each needs a processor for up to a minute."""

import os

from ladder.common.commands import be_nice
from ladder.common.jobs import Job
from ladder.ratings import corrections, second_opinion
from ladder.ratings.ledger_writer import LedgerConflict


def _voids_wait() -> bool:
    """True if voided games wait for a long pass."""
    return any(map(corrections.needs_long_pass, corrections.waiting_seasons()))


def _fold_voids() -> None:
    """Take voided games out of the ratings, from the last checkpoint on."""
    be_nice()
    for season in corrections.waiting_seasons():
        try:
            corrections.fold_voids(season)
        except LedgerConflict:
            continue  # another process takes them out


def _make_opinions() -> None:
    """Estimate all strengths of each season whose ledger has grown, and over all."""
    be_nice()
    # numpy reads this when it is imported. More threads would take the processors
    # from the workers.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from ladder.ratings import season_estimate  # noqa: PLC0415

    for season in second_opinion.due_seasons():
        season_estimate.make_opinion(season)
    if second_opinion.is_combined_due():
        season_estimate.make_combined_opinion()


FOLD_VOIDS = Job("fold_voids", _voids_wait, _fold_voids)
SECOND_OPINION = Job(
    "second_opinion",
    is_due=lambda: bool(
        second_opinion.due_seasons() or second_opinion.is_combined_due()
    ),
    run=_make_opinions,
    check_interval_s=5.0,
)
