"""The skills of all bots after any entry of a ledger, without reading all of it.

Every `SNAPSHOT_ENTRIES` entries the summaries keep a snapshot of all skills. So the
skills after an entry follow from the last snapshot before it and from the stored
changes of the few entries between the two. The cost is nearly the same for every entry,
however long the ledger is. An entry never changes, so neither does a snapshot.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence

from ladder.ratings import ledger_reader
from ladder.ratings.models import SkillSnapshot
from torres.rating.ledger import RatingChange

SNAPSHOT_ENTRIES = 2000
"""A snapshot takes 24 bytes for each bot, so fewer entries would take much space."""

Skills = dict[int, Sequence[float]]
"""μ and σ by bot."""


def skills_at(season: int, seq: int) -> Skills:
    """Return the skills of the bots that are rated after entry `seq`."""
    rows = SkillSnapshot.objects.filter(season=season, seq__lte=seq).order_by("-seq")
    last = rows.values_list("seq", "skills").first()
    after, skills = (last[0], unpack(bytes(last[1]))) if last else (0, {})
    _apply(skills, ledger_reader.changes(season, after=after, until=seq))
    return skills


def keep(season: int, before: int, after: int) -> None:
    """Store a snapshot at each multiple of SNAPSHOT_ENTRIES between two heads."""
    first = before // SNAPSHOT_ENTRIES + 1
    for number in range(first, after // SNAPSHOT_ENTRIES + 1):
        seq = number * SNAPSHOT_ENTRIES
        skills = pack(skills_at(season, seq))
        SkillSnapshot.objects.create(season_id=season, seq=seq, skills=skills)


def wrong_snapshots(season: int, until: int) -> list[int]:
    """Return the entries up to `until` whose snapshot is not that of the ledger."""
    wrong = []
    skills: Skills = {}
    last = 0
    rows = SkillSnapshot.objects.filter(season=season, seq__lte=until)
    for seq in rows.order_by("seq").values_list("seq", flat=True):
        _apply(skills, ledger_reader.changes(season, after=last, until=seq))
        stored = rows.values_list("skills", flat=True).get(seq=seq)
        if bytes(stored) != pack(skills):
            wrong.append(seq)
        last = seq
    return wrong


def pack(skills: Mapping[int, Sequence[float]]) -> bytes:
    """Return the skills as bytes: all bots in order, then each μ, then each σ."""
    bots = sorted(skills)
    mus = (skills[bot][0] for bot in bots)
    sigmas = (skills[bot][1] for bot in bots)
    return struct.pack(_layout(len(bots)), *bots, *mus, *sigmas)


def unpack(packed: bytes) -> Skills:
    """Return the skills that `pack` wrote."""
    count = len(packed) // struct.calcsize(_layout(1))
    values = struct.unpack(_layout(count), packed)
    both = zip(values[count : 2 * count], values[2 * count :], strict=True)
    return dict(zip(values[:count], both, strict=True))


def _layout(bots: int) -> str:
    return f"<{bots}q{2 * bots}d"


def _apply(skills: Skills, entries: Iterable[Sequence[RatingChange]]) -> None:
    for changes in entries:
        for change in changes:
            if after := change["after"]:
                skills[change["bot"]] = after
            else:
                skills.pop(change["bot"], None)
