"""Check a whole ledger in one pass: every stored change, and the state at its end.

Entries come in order, each with the changes that were stored with it. For each entry
the check computes the changes again and compares them bit for bit. A group of voids is
the difficulty: its changes are the difference to a fold without its games. That second
fold, a track, starts at the first of the games and ends at the group, so that the
entries are read only once. Tracks cost time. If there are too many, only the last group
has one, from the first voided game on. It proves the state at the end, which leaves out
all voided games. The changes of earlier groups are then not computed again: the check
compares only the state before them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from torres.rating import ledger
from torres.rating.ledger import EntryKind, LedgerLine, LedgerState, RatingChange
from torres.rating.trueskill import Skill

MAX_TRACKS = 16
"""At most this many tracks are folded at a time."""

MAX_TRACK_FACTOR = 4
"""All tracks together may be this many times as long as the ledger."""


class VoidGroup(NamedTuple):
    """Games that are taken out by consecutive entries, the last of which is `seq`.

    `first` is the number of the first entry that rates one of them.
    """

    seq: int
    first: int
    games: frozenset[int]


def groups_of(
    voids: Iterable[tuple[LedgerLine, int]],
) -> list[VoidGroup]:
    """Return the groups of void entries, each given with the entry of its game."""
    members: dict[int, list[tuple[int, int]]] = {}
    for line, rated_by in voids:
        last = line.inputs.get("corrected_by", line.seq)
        members.setdefault(last, []).append((rated_by, line.game or 0))
    return [
        VoidGroup(
            last,
            min(seq for seq, _ in members[last]),
            frozenset(game for _, game in members[last]),
        )
        for last in sorted(members)
    ]


def tracked(groups: Sequence[VoidGroup], head: int) -> dict[int, int]:
    """Return which groups get a track, and the entry at which it starts, by index."""
    if not groups:
        return {}
    length = sum(group.seq - group.first for group in groups)
    events = [(group.first, 1) for group in groups]
    events += [(group.seq, -1) for group in groups]
    most = open_tracks = 0
    for _, change in sorted(events):
        open_tracks += change
        most = max(most, open_tracks)
    if length <= MAX_TRACK_FACTOR * head and most <= MAX_TRACKS:
        return {index: group.first for index, group in enumerate(groups)}
    return {len(groups) - 1: min(group.first for group in groups)}


@dataclass(slots=True)
class Verification:
    """The state of a check after entry `seq`, and what it found.

    `state` is the state that the stored changes lead to. `tracks` are the folds for
    later groups, by the index of the group. `unverified` counts the groups of voids
    whose changes were not computed again.
    """

    groups: Sequence[VoidGroup]
    head: int
    seq: int = 0
    state: LedgerState = field(default_factory=LedgerState)
    tracks: dict[int, LedgerState] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    _starts: dict[int, list[int]] = field(default_factory=dict)
    _group_of: dict[int, int] = field(default_factory=dict)
    _index_at: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for index, start in tracked(self.groups, self.head).items():
            self._starts.setdefault(start, []).append(index)
        for index, group in enumerate(self.groups):
            self._index_at[group.seq] = index
            self._group_of.update(dict.fromkeys(group.games, index))

    @property
    def unverified(self) -> int:
        return len(self.groups) - sum(len(some) for some in self._starts.values())

    def add(self, line: LedgerLine, stored: list[RatingChange]) -> None:
        """Check one entry. Complain if its number or its changes are wrong."""
        self.seq += 1
        if line.seq != self.seq:
            missing = f"entries {self.seq} to {line.seq - 1} are missing"
            if line.seq == self.seq + 1:
                missing = f"entry {self.seq} is missing"
            self.complaints.append(missing)
            self.seq = line.seq
        for index in self._starts.get(line.seq, ()):
            self.tracks[index] = self._origin(index).copy()
        try:
            right = self._changes_are_right(line, stored)
        except (ValueError, KeyError, TypeError, ArithmeticError) as error:
            self.complaints.append(f"entry {line.seq} cannot be folded: {error!r}")
            return
        if not right:
            self.complaints.append(
                f"entry {line.seq}: the stored changes are not the computed ones"
            )

    def _origin(self, index: int) -> LedgerState:
        """Return the state without the games of all groups up to this one, so far."""
        earlier = [other for other in self.tracks if other < index]
        return self.tracks[max(earlier)] if earlier else self.state

    def _changes_are_right(self, line: LedgerLine, stored: list[RatingChange]) -> bool:
        if line.kind == EntryKind.VOID:
            return self._correct(line.seq, stored)
        computed = ledger.step(self.state, line)
        voided_by = self._group_of.get(line.game) if line.game else None
        for index, track in self.tracks.items():
            if voided_by is None or index < voided_by:
                ledger.apply(track, line)
        return computed == stored

    def _correct(self, seq: int, stored: list[RatingChange]) -> bool:
        """Take the games of a group out at its last entry, which has the changes."""
        index = self._index_at.get(seq)
        if index is None:
            return not stored
        after = self.tracks.pop(index, None)
        if after is None:
            return _accept(self.state, stored)
        computed = ledger.changes(self.state, after)
        self.state = after
        return computed == stored

    def dump(self) -> dict[str, object]:
        """Return the progress as a JSON document."""
        return {
            "seq": self.seq,
            "plan": self._plan(),
            "head": self.head,
            "state": self.state.dump(),
            "tracks": [[index, track.dump()] for index, track in self.tracks.items()],
        }

    def _plan(self) -> list[Any]:
        """Return what two checks must have in common to share their progress."""
        groups = [[group.seq, group.first] for group in self.groups]
        return [groups, [[start, some] for start, some in sorted(self._starts.items())]]

    def resume(self, document: Mapping[str, Any]) -> bool:
        """Continue from a progress that `dump` returned.

        Return False, and change nothing, if games were voided since, so that the
        progress does not belong to this check.
        """
        if document["plan"] != self._plan() or document["head"] > self.head:
            return False
        self.seq = document["seq"]
        self.state = LedgerState.load(document["state"])
        self.tracks = {
            index: LedgerState.load(track) for index, track in document["tracks"]
        }
        return True


def _accept(state: LedgerState, stored: list[RatingChange]) -> bool:
    """Apply stored changes; return True if each `before` equals the state."""
    right = True
    for change in stored:
        old = state.bots[change["bot"]]
        right = right and change["before"] == list(old.skill)
        state.bots[change["bot"]] = old._replace(skill=Skill(*(change["after"] or ())))
    return right
