"""Read the leaves of a log in their order, and check that they fit together.

Nothing here needs more than the log itself: whether decks follow from secrets that were
committed to before, whether each game has a plan and one end, and whether times go on.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from torres.auditing.findings import AuditFinding, Check
from torres.auditing.mirror import LogCopy
from torres.tlog import decks
from torres.tlog.leaves import BadLeaf, Leaf, LeafKind, parse_leaf, seal
from torres.tlog.merkle import leaf_hash

LATE = timedelta(minutes=15)
"""A leaf may be this much older than one before it: transactions end in any order."""
REVEAL_AFTER = timedelta(days=2)
"""A secret is public this long after its commitment, if all its games have ended."""


@dataclass(slots=True)
class Batch:
    """A batch of decks: when its secret was committed to, and the secret if known."""

    leaf: int
    time: datetime
    commitment: str
    secret: bytes | None = None


@dataclass(slots=True)
class Plan:
    """A planned match. `open` counts its games that have not ended."""

    leaf: int
    hash: bytes
    time: datetime
    data: Mapping[str, Any]
    open: int

    @property
    def deadline(self) -> datetime:
        return self.time + timedelta(hours=float(self.data["hours"]))


@dataclass(slots=True)
class LoggedGame:
    """A finished game, and the plan of its match. A voided one counts no more."""

    leaf: int
    time: datetime
    data: Mapping[str, Any]
    plan: Plan
    voided: bool = False


@dataclass(slots=True)
class Story:
    """Everything that a log tells, after all its leaves were read."""

    end: datetime
    submissions: dict[int, str] = field(default_factory=dict)
    batches: dict[int, Batch] = field(default_factory=dict)
    plans: dict[int, Plan] = field(default_factory=dict)
    games: dict[int, LoggedGame] = field(default_factory=dict)
    ratings: list[tuple[int, Leaf]] = field(default_factory=list)
    ended: set[int] = field(default_factory=set)
    sealed: int = 0
    findings: list[AuditFinding] = field(default_factory=list)

    def end_game(self, game: int, plan: Plan) -> None:
        """Count the end of a game once: a dead game may be revived or given up."""
        if game not in self.ended:
            self.ended.add(game)
            plan.open -= 1

    def add(self, check: Check, text: str, leaf: int | None = None) -> None:
        self.findings.append(AuditFinding(check, text, leaf))


class StoryReader:
    """Reads leaves one after the other."""

    def __init__(self, copy: LogCopy, now: datetime) -> None:
        self.story = Story(now)
        self._copy = copy
        self._latest: datetime | None = None
        self._openings: dict[int, Leaf] = {}
        self._read: Mapping[LeafKind, Callable[[int, Leaf], None]] = {
            LeafKind.BATCH_COMMITTED: self._commit,
            LeafKind.BATCH_REVEALED: self._reveal,
            LeafKind.SUBMISSION_ACCEPTED: self._submission,
            LeafKind.MATCH_PLANNED: self._plan,
            LeafKind.GAME_FINISHED: self._finished,
            LeafKind.GAME_ENDED: self._ended,
            LeafKind.GAME_VOIDED: self._voided,
            LeafKind.RATING_CHANGED: self._rated,
        }

    def read(self) -> Story:
        """Return the story of all leaves, with what is wrong in it."""
        leaves = list(self._parsed())
        self._find_openings(leaves)
        for number, leaf in leaves:
            self._check_time(number, leaf)
            opened = leaf
            if leaf.kind == LeafKind.SEALED:
                if number not in self._openings:
                    self.story.sealed += 1
                    continue
                opened = self._openings[number]
            self._read.get(opened.kind, _ignore)(number, opened)
        self._check_ends()
        return self.story

    def _parsed(self) -> Iterator[tuple[int, Leaf]]:
        for number, text in enumerate(self._copy.leaves):
            try:
                yield number, parse_leaf(text)
            except BadLeaf as error:
                self.story.add(Check.LOG, str(error), number)

    def _find_openings(self, leaves: Sequence[tuple[int, Leaf]]) -> None:
        """Check the seals of all leaves that were opened."""
        sealed = {n: leaf for n, leaf in leaves if leaf.kind == LeafKind.SEALED}
        for number, leaf in leaves:
            if leaf.kind != LeafKind.UNSEALED:
                continue
            of = leaf.data["leaf"]
            text = str(leaf.data["text"])
            salt = bytes.fromhex(leaf.data["salt"])
            if of in sealed and sealed[of].data["hash"] == seal(salt, text):
                self._openings[of] = parse_leaf(text)
            else:
                self.story.add(Check.LOG, f"this is not what leaf {of} sealed", number)

    def _check_time(self, number: int, leaf: Leaf) -> None:
        if self._latest is not None and leaf.time < self._latest - LATE:
            self.story.add(
                Check.TIMES,
                f"the time {leaf.time:%Y-%m-%d %H:%M} is before that of an earlier leaf"
                f" ({self._latest:%Y-%m-%d %H:%M}): it was written later than it says",
                number,
            )
        self._latest = max(leaf.time, self._latest or leaf.time)

    def _commit(self, number: int, leaf: Leaf) -> None:
        batch = leaf.data["batch"]
        if batch in self.story.batches:
            self.story.add(Check.SECRETS, f"batch {batch} is committed twice", number)
            return
        commitment = leaf.data["commitment"]
        self.story.batches[batch] = Batch(number, leaf.time, commitment)

    def _reveal(self, number: int, leaf: Leaf) -> None:
        batch = self.story.batches.get(leaf.data["batch"])
        secret = bytes.fromhex(leaf.data["secret"])
        if batch is None or decks.commitment(secret) != batch.commitment:
            self.story.add(
                Check.SECRETS,
                f"the secret of batch {leaf.data['batch']} is not the one that the log"
                " has committed to",
                number,
            )
            return
        batch.secret = secret

    def _submission(self, number: int, leaf: Leaf) -> None:
        submission = leaf.data["submission"]
        if (
            self.story.submissions.setdefault(submission, leaf.data["digest"])
            != (leaf.data["digest"])
        ):
            self.story.add(
                Check.SUBMISSIONS, f"submission {submission} has two digests", number
            )

    def _plan(self, number: int, leaf: Leaf) -> None:
        match = leaf.data["match"]
        if match in self.story.plans:
            self.story.add(Check.GAMES, f"match {match} is planned twice", number)
            return
        hash_ = leaf_hash(self._copy.leaves[number])
        games = len(leaf.data["games"])
        plan = Plan(number, hash_, leaf.time, leaf.data, games)
        self.story.plans[match] = plan
        for submission, digest in leaf.data["submissions"].items():
            logged = self.story.submissions.get(int(submission), digest)
            if logged != digest:
                self.story.add(
                    Check.SUBMISSIONS,
                    f"submission {submission} plays match {match} with other files than"
                    " were uploaded",
                    number,
                )

    def _finished(self, number: int, leaf: Leaf) -> None:
        game = leaf.data["game"]
        plan = self.story.plans.get(leaf.data["match"])
        if plan is None or game in self.story.games:
            why = "ends twice" if plan else "ends without a planned match"
            self.story.add(Check.GAMES, f"game {game} {why}", number)
            return
        self.story.end_game(game, plan)
        self.story.games[game] = LoggedGame(number, leaf.time, leaf.data, plan)
        if "deal" in leaf.data:
            self._check_deal(number, leaf, plan)

    def _check_deal(self, number: int, leaf: Leaf, plan: Plan) -> None:
        """Check that the decks were fixed by leaves before the game."""
        deal = leaf.data["deal"]
        game = leaf.data["game"]
        batch = self.story.batches.get(deal["batch"])
        first = self._first_of_deal(number, plan)
        if first is None:
            return
        if batch is None or batch.commitment != deal["commitment"]:
            self.story.add(
                Check.DECKS, f"game {game} has decks of an unknown secret", number
            )
        elif batch.leaf > min(plan.leaf, first.leaf):
            self.story.add(
                Check.DECKS,
                f"the secret of game {game} is younger than its plan",
                number,
            )
        root = self._copy.roots.get(deal["size"], b"").hex()
        is_between = max(plan.leaf, first.leaf) < deal["size"] <= number
        hashes = (deal.get("match_plan", deal["plan"]), deal["plan"])
        is_planned = hashes == (plan.hash.hex(), first.hash.hex())
        if not is_planned or root != deal["root"] or not is_between:
            whose = "its plan"
            if first is not plan:
                whose = f"the plan of match {first.data['match']}, whose deal it shares"
            self.story.add(
                Check.DECKS,
                f"the decks of game {game} do not follow from {whose}",
                number,
            )

    def _first_of_deal(self, number: int, plan: Plan) -> Plan | None:
        """Return the plan from which the decks of a match have to follow.

        It is that of the match which the plan names in `deal_of`, or the plan itself.
        Return None if the named match has not the same rules or no deal to share.
        """
        named = plan.data.get("deal_of")
        if named is None:
            return plan
        first = self.story.plans.get(named)
        is_first = first is not None and first.data.get("deal_of") == named
        if first is not None and is_first and _rules(first) == _rules(plan):
            return first
        self.story.add(
            Check.DECKS,
            f"match {plan.data['match']} names the deal of match {named}, which has no"
            " such deal to share",
            number,
        )
        return None

    def _ended(self, number: int, leaf: Leaf) -> None:
        plan = self.story.plans.get(leaf.data["match"])
        if plan is None:
            self.story.add(
                Check.GAMES, f"game {leaf.data['game']} has no planned match", number
            )
            return
        self.story.end_game(leaf.data["game"], plan)

    def _voided(self, number: int, leaf: Leaf) -> None:
        game = self.story.games.get(leaf.data["game"])
        if game is None or game.voided:
            self.story.add(
                Check.GAMES, f"game {leaf.data['game']} is voided without need", number
            )
            return
        game.voided = True
        if leaf.data["replacement"] is not None:
            game.plan.open += 1

    def _rated(self, number: int, leaf: Leaf) -> None:
        self.story.ratings.append((number, leaf))

    def _check_ends(self) -> None:
        """Look for matches without an end, and for secrets that stay secret."""
        unfinished: set[int] = set()
        for match, plan in self.story.plans.items():
            if plan.open > 0 and plan.deadline < self.story.end:
                self.story.add(
                    Check.OVERDUE,
                    f"match {match} was planned and {plan.open} of its games have no"
                    f" end, {plan.data['hours']} hours later",
                    plan.leaf,
                )
        for game in self.story.games.values():
            if game.plan.open > 0 and "deal" in game.data:
                unfinished.add(game.data["deal"]["batch"])
        newest = max(self.story.batches, default=0)
        for number, batch in self.story.batches.items():
            is_late = batch.time + REVEAL_AFTER < self.story.end
            is_over = number < newest and number not in unfinished
            if is_late and is_over and batch.secret is None:
                self.story.add(
                    Check.SECRETS,
                    f"the secret of batch {number} was not made public",
                    batch.leaf,
                )


def _rules(plan: Plan) -> tuple[object, ...]:
    """Return what has to be equal in matches that share a deal."""
    return plan.data["ruleset"], plan.data["switches"], len(plan.data["games"][0])


def _ignore(_number: int, _leaf: Leaf) -> None:
    """Leaves about the log itself and about attempts need no check."""
