"""The leaves of ratings in the public log: one for each entry of a ledger."""

from collections.abc import Mapping, Sequence
from typing import Any

from ladder.public_log.outbox import NewLeaf, record_all
from ladder.ratings.models import Entry, Season
from torres.rating.ledger import EntryKind
from torres.tlog.leaves import LeafKind


def record_entries(season: Season, entries: Sequence[Entry]) -> None:
    """Log what these entries change, in the transaction that appends them."""
    record_all(
        NewLeaf(LeafKind.RATING_CHANGED, None, _data(season, entry))
        for entry in entries
    )


def _data(season: Season, entry: Entry) -> Mapping[str, Any]:
    """Return the ratings after an entry, and what it needs that no other leaf has.

    The ranks of a game are in the leaf of the game, and its seats in that of the match.
    """
    data = {
        "ladder": season.ladder.slug,
        "season": season.number,
        "seq": entry.seq,
        "kind": entry.kind,
        "after": [
            [change["bot"], *(change["after"] or ())] for change in entry.changes
        ],
    }
    if entry.game_id is not None:
        data["game"] = entry.game_id
    if entry.kind != EntryKind.GAME:
        data["inputs"] = entry.inputs
    return data
