"""Read the leaves of a log in their order, and check that they fit together.

Nothing here needs more than the log itself: whether decks follow from secrets that were
committed to before, whether each game has a plan and one end, and whether times go on.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from torres.auditing.deals import DealChecks
from torres.auditing.findings import Check
from torres.auditing.logged import (
    Asking,
    Batch,
    CancelledGame,
    LoggedGame,
    LoggedName,
    Plan,
    Story,
)
from torres.auditing.mirror import LogCopy
from torres.auditing.tournaments import TournamentReader
from torres.tlog import decks
from torres.tlog.leaves import BadLeaf, Leaf, LeafKind, parse_leaf, seal
from torres.tlog.merkle import leaf_hash
from torres.tlog.notes import BadKey, VerifierKey

LATE = timedelta(minutes=15)
"""A fact may be this much older than one before it: transactions end in any order."""
OF_THE_LOG = {
    LeafKind.LOG_STARTED,
    LeafKind.LOG_RESTORED,
    LeafKind.BATCH_COMMITTED,
    LeafKind.DECKS_FIXED,
    LeafKind.SEALED,
}
"""The log writes these when it gives numbers, or they may be such leaves.

Facts wait while no dispatcher runs. So they may be older than these leaves.
"""
FIRST_TIME = datetime.min.replace(tzinfo=UTC)
REVEAL_AFTER = timedelta(days=2)
"""A secret is public this long after the next commitment and the end of its games."""


class StoryReader:
    """Reads leaves one after the other."""

    def __init__(self, copy: LogCopy, now: datetime) -> None:
        self.story = Story(now)
        self._copy = copy
        self._deals = DealChecks(self.story, copy)
        self._tournaments = TournamentReader(self.story)
        self._latest: datetime | None = None
        self._openings: dict[int, tuple[int, Leaf]] = {}
        self._read: Mapping[LeafKind, Callable[[int, Leaf], None]] = {
            LeafKind.BATCH_COMMITTED: self._commit,
            LeafKind.BATCH_REVEALED: self._reveal,
            LeafKind.SUBMISSION_ACCEPTED: self._submission,
            LeafKind.MATCH_PLANNED: self._plan,
            LeafKind.PAIRINGS_MADE: self._pairings,
            LeafKind.DECKS_FIXED: self._deals.fix,
            LeafKind.DECKS_RENEWED: self._deals.renew,
            LeafKind.LOG_STARTED: self._deals.name_log,
            LeafKind.LOG_RESTORED: self._deals.name_log,
            LeafKind.GAME_FINISHED: self._finished,
            LeafKind.GAME_ENDED: self._ended,
            LeafKind.GAME_VOIDED: self._voided,
            LeafKind.RATING_CHANGED: self._rated,
            LeafKind.ATTEMPT_ENDED: self._attempt_ended,
            LeafKind.BOT_NAMED: self._named,
            LeafKind.BOT_STATUS: self._bot_changed,
            LeafKind.TOURNAMENT_STARTED: self._tournaments.start,
            LeafKind.ENTRANT_LEFT: self._tournaments.leave,
            LeafKind.FIXTURE_DECIDED: self._tournaments.decide,
            LeafKind.OPERATOR_ACTED: self._operator_acted,
            LeafKind.DATASET_PUBLISHED: self._dataset,
        }

    def read(self) -> Story:
        """Return the story of all leaves, with what is wrong in it."""
        leaves = list(self._parsed())
        self._find_openings(leaves)
        for number, leaf in leaves:
            self._check_time(number, leaf)
            self._deals.pass_leaf(number, leaf.kind)
            opened = leaf
            if leaf.kind == LeafKind.SEALED:
                if number not in self._openings:
                    self.story.sealed += 1
                    continue
                opened = self._openings[number][1]
            self._tell(number, opened)
        self._check_ends()
        return self.story

    def _tell(self, number: int, leaf: Leaf) -> None:
        """Read a leaf. The operator may have written any numbers into it."""
        try:
            self._read.get(leaf.kind, _ignore)(number, leaf)
        except LookupError as error:
            text = f"a leaf {leaf.kind} names {error}, which the log does not have"
            self.story.add(Check.LOG, text, number)

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
            text = leaf.data["text"]
            salt = bytes.fromhex(leaf.data["salt"])
            if of not in sealed or sealed[of].data["hash"] != seal(salt, text):
                self.story.add(Check.LOG, f"this is not what leaf {of} sealed", number)
                continue
            try:
                self._openings[of] = (number, parse_leaf(text))
            except BadLeaf as error:
                self.story.add(Check.LOG, f"leaf {of} has sealed this: {error}", number)

    def _check_time(self, number: int, leaf: Leaf) -> None:
        if self._latest is not None and leaf.time < self._latest - LATE:
            self.story.add(
                Check.TIMES,
                f"the time {leaf.time:%Y-%m-%d %H:%M} is before that of an earlier leaf"
                f" ({self._latest:%Y-%m-%d %H:%M}): it was written later than it says",
                number,
            )
        if leaf.kind not in OF_THE_LOG:
            self._latest = max(leaf.time, self._latest or leaf.time)

    def _commit(self, number: int, leaf: Leaf) -> None:
        batch = leaf.data["batch"]
        if batch in self.story.batches:
            self.story.add(Check.SECRETS, f"batch {batch} is committed twice", number)
            return
        commitment = leaf.data["commitment"]
        try:
            keys = [VerifierKey.parse(key) for key in leaf.data.get("witnesses", ())]
        except BadKey as error:
            self.story.add(
                Check.SECRETS, f"a witness of batch {batch}: {error}", number
            )
            return
        self.story.batches[batch] = Batch(number, leaf.time, commitment, keys)

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
        batch.revealed = number

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
        asking = Asking(number, hash_, self._deals.named_batch(number, leaf))
        plan = Plan(number, hash_, leaf.time, leaf.data, games, asking)
        self.story.plans[match] = plan
        self._deals.share(plan)
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
        index, ranks, scores = (leaf.data[key] for key in ("index", "ranks", "scores"))
        games = plan.data["games"]
        if index >= len(games) or not len(games[index]) == len(ranks) == len(scores):
            text = f"game {game} has other seats than match {leaf.data['match']}"
            self.story.add(Check.GAMES, text, number)
            return
        self.story.end_game(game, plan)
        public = self._public_since(number)
        logged = LoggedGame(number, leaf.time, leaf.data, plan, public, plan.fixed)
        self.story.games[game] = logged
        self._deals.check_game(game, logged)

    def _public_since(self, number: int) -> int:
        """Return the leaf since which this one can be read: itself, or its opening."""
        return self._openings[number][0] if number in self._openings else number

    def _ended(self, number: int, leaf: Leaf) -> None:
        plan = self.story.plans.get(leaf.data["match"])
        if plan is None:
            self.story.add(
                Check.GAMES, f"game {leaf.data['game']} has no planned match", number
            )
            return
        self.story.end_game(leaf.data["game"], plan)
        if leaf.data["outcome"] == "dead":
            self.story.dead.add(leaf.data["game"])
        else:
            self.story.cancelled[leaf.data["game"]] = CancelledGame(leaf.time, plan)

    def _voided(self, number: int, leaf: Leaf) -> None:
        game = self.story.games.get(leaf.data["game"])
        if game is None or game.voided:
            self.story.add(
                Check.GAMES, f"game {leaf.data['game']} is voided without need", number
            )
            return
        game.voided_by = self._public_since(number)
        game.voided_at = leaf.time
        if leaf.data["replacement"] is not None:
            game.plan.open += 1
            self.story.replacements.add(leaf.data["replacement"])

    def _attempt_ended(self, _number: int, leaf: Leaf) -> None:
        self.story.failed[leaf.data["game"]] += 1

    def _named(self, number: int, leaf: Leaf) -> None:
        if self.story.names_since is None:
            # Without an upload before it, no version was older than this one.
            is_new = not self.story.submissions
            self.story.names_since = FIRST_TIME if is_new else leaf.time
        name = LoggedName(number, str(leaf.data["hash"]))
        self.story.names.setdefault(leaf.data["bot"], []).append(name)

    def _bot_changed(self, number: int, leaf: Leaf) -> None:
        self.story.change_bot(leaf.data["bot"], number, leaf)

    def _dataset(self, _number: int, leaf: Leaf) -> None:
        # A dataset whose writing was killed has a leaf for each manifest.
        digests = self.story.datasets.setdefault(leaf.data["day"], set())
        digests.add(leaf.data["manifest"])

    def _operator_acted(self, _number: int, leaf: Leaf) -> None:
        self.story.acts[str(leaf.data["act"])] += 1

    def _rated(self, number: int, leaf: Leaf) -> None:
        self.story.ratings.append((number, leaf))

    def _pairings(self, number: int, _leaf: Leaf) -> None:
        self.story.pairings.append(number)

    def _check_ends(self) -> None:
        """Look for matches without an end, and for secrets that stay secret."""
        self._deals.check_seeds()
        for match, plan in self.story.plans.items():
            if plan.open > 0 and plan.deadline < self.story.end:
                self.story.add(
                    Check.OVERDUE,
                    f"match {match} was planned and {plan.open} of its games have no"
                    f" end, {plan.data['hours']} hours later",
                    plan.leaf,
                )
        self._check_secrets()

    def _check_secrets(self) -> None:
        """Look for secrets that stay secret although no game needs them any more.

        A service that was stopped closes its newest batch only when it starts again.
        So a batch is over since the commitment to the next one, or the last of its own
        games, if that ended later.
        """
        batches = sorted(self.story.batches.items())
        over = {
            number: following.time
            for (number, _), (_, following) in itertools.pairwise(batches)
        }
        unfinished: set[int | None] = set()
        for plan in self.story.plans.values():
            if plan.open > 0:
                unfinished.add(plan.asking.batch)
        for game in self.story.games.values():
            batch = game.data["deal"]["batch"] if "deal" in game.data else None
            if game.plan.open > 0:
                unfinished.add(batch)
            elif batch in over:
                over[batch] = max(over[batch], game.time)
        for number, since in over.items():
            batch = self.story.batches[number]
            is_late = since + REVEAL_AFTER < self.story.end
            if batch.secret is None and is_late and number not in unfinished:
                self.story.add(
                    Check.SECRETS,
                    f"the secret of batch {number} was not made public",
                    batch.leaf,
                )


def _ignore(_number: int, _leaf: Leaf) -> None:
    """Leaves about the log itself need no check."""
