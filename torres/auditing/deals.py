"""Check that the decks of each match were fixed by the log before it was played.

The rule: a plan names the newest batch; the first tree that is signed with the plan in
it gives the decks; the next leaf commits to them; and a secret is made public after the
last game, and used no more. Plans of older versions name no rule. Of their decks only
the leaves of the games tell, so less can be checked.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from torres.auditing.findings import Check
from torres.auditing.logged import (
    Asking,
    Batch,
    FixedDecks,
    LoggedGame,
    Plan,
    Story,
)
from torres.auditing.mirror import LogCopy
from torres.tlog import decks
from torres.tlog.checkpoints import TreeHead
from torres.tlog.leaves import Leaf, LeafKind
from torres.tlog.merkle import leaf_hash
from torres.tlog.notes import BadNote, SignedNote, parse_signature

UPGRADE = timedelta(hours=1)
"""Plans without a rule end this long after the first one with a rule."""


class DealChecks:
    """Is told the leaves in their order, and adds findings to the story."""

    def __init__(self, story: Story, copy: LogCopy) -> None:
        self._story = story
        self._copy = copy
        self._origin = copy.head.origin
        self._run = 0
        """The first of the last leaves that are all decks-fixed, or sealed."""
        self._size = self._size_before = 0
        self._ruled_since: datetime | None = None
        self._newest_of_deal: dict[int, int] = {}

    def pass_leaf(self, number: int, kind: LeafKind) -> None:
        """Note the kind of each leaf, before what is sealed in it."""
        if kind not in (LeafKind.DECKS_FIXED, LeafKind.SEALED):
            self._run = number + 1

    def name_log(self, _number: int, leaf: Leaf) -> None:
        """Note the name under which the next trees were signed."""
        self._origin = str(leaf.data["name"])

    def named_batch(self, number: int, leaf: Leaf) -> int | None:
        """Return the batch that a leaf names which asks for decks; None by rule 1."""
        match = leaf.data["match"]
        named = leaf.data.get("decks")
        if named is None:
            since = self._ruled_since
            if since is not None and leaf.time > since + UPGRADE:
                text = f"match {match} names no batch, unlike the matches before it"
                self._story.add(Check.DECKS, text, number)
            return None
        self._ruled_since = self._ruled_since or leaf.time
        batch = int(named["batch"])
        newest = next(reversed(self._story.batches), None)
        if named["rule"] != decks.RULE:
            text = (
                f"match {match} names the rule {named['rule']}, which is unknown here"
            )
            self._story.add(Check.DECKS, text, number)
        elif batch != newest:
            text = f"match {match} names batch {batch}, and {newest} was the newest"
            self._story.add(Check.DECKS, text, number)
        self._require_secret(number, f"match {match}", batch)
        return batch

    def share(self, plan: Plan) -> None:
        """Note the newest plan of each deal that several matches share."""
        if "deal_of" in plan.data:
            self._newest_of_deal[plan.data["deal_of"]] = plan.leaf

    def renew(self, number: int, leaf: Leaf) -> None:
        """Let a match get other decks, because a dead game is played after all."""
        match, game = leaf.data["match"], leaf.data["game"]
        plan = self._story.plans[match]
        if game not in self._story.dead:
            text = f"match {match} gets other decks, and game {game} was not dead"
            self._story.add(Check.DECKS, text, number)
        self._story.dead.discard(game)
        hash_ = leaf_hash(self._copy.leaves[number])
        plan.asking = Asking(number, hash_, self.named_batch(number, leaf))
        plan.fixed = None
        self._story.renewed += 1

    def fix(self, number: int, leaf: Leaf) -> None:
        """Note the decks of matches, which have to follow from the newest tree."""
        size, batch = int(leaf.data["size"]), int(leaf.data["batch"])
        if not self._run <= size <= number:
            text = f"other leaves are between these decks and their tree of {size}"
            self._story.add(Check.DECKS, text, number)
        if size != self._size:
            self._size_before, self._size = self._size, size
        fixed = FixedDecks(number, batch, size, b"", self._entropy(number, leaf), "")
        for match, seed_hash in leaf.data["decks"]:
            plan = self._story.plans.get(match)
            if plan is not None:
                self._fix_match(plan, fixed._replace(seed_hash=seed_hash))
            elif not self._story.sealed:
                text = f"decks are fixed for match {match}, which is not planned"
                self._story.add(Check.DECKS, text, number)

    def _fix_match(self, plan: Plan, fixed: FixedDecks) -> None:
        match, number = plan.data["match"], fixed.leaf
        source = plan.asking
        newest = source.leaf
        if source.leaf == plan.leaf and "deal_of" in plan.data:
            first = self._first_of_deal(number, plan)
            source = first.asking if first is not None else source
            newest = self._newest_of_deal[plan.data["deal_of"]]
        if plan.fixed is not None:
            text = f"match {match} gets decks for the second time"
            self._story.add(Check.DECKS, text, number)
        elif source.batch not in (None, fixed.batch):
            text = f"match {match} gets decks of another batch than its plan names"
            self._story.add(Check.DECKS, text, number)
        earlier = {self._size_before}
        if source.batch is not None:
            earlier |= self._copy.seen
        skipped = [size for size in earlier if newest < size < fixed.size]
        if newest >= fixed.size or skipped:
            text = f"the decks of match {match} do not follow from the first tree"
            if skipped:
                text += f", which had {min(skipped)} leaves and not {fixed.size}"
            self._story.add(Check.DECKS, text, number)
        self._require_secret(number, f"match {match}", fixed.batch)
        plan.fixed = fixed._replace(source=source.hash)

    def _entropy(self, number: int, leaf: Leaf) -> bytes:
        """Return what the cosignatures of a leaf add to seeds, and check them."""
        size, lines = leaf.data["size"], leaf.data["cosignatures"]
        batch = self._story.batches.get(leaf.data["batch"])
        keys = batch.witnesses if batch is not None else ()
        if len(lines) != len(keys):
            text = f"{len(lines)} cosignatures, and the batch has {len(keys)} witnesses"
            self._story.add(Check.DECKS, text, number)
            return b""
        head = TreeHead(self._origin, size, self._copy.roots.get(size, b""))
        parts = []
        for key, line in zip(keys, lines, strict=True):
            data = b""
            if line is not None:
                try:
                    signature = parse_signature(line)
                    good = key.signed(SignedNote(head.text(), [signature]))
                    data = signature.data if good else b""
                except BadNote:
                    good = None
                if good is None:
                    text = f"the cosignature of {key.name} is not one on this tree"
                    self._story.add(Check.DECKS, text, number)
            parts.append(data)
        matches = len(leaf.data["decks"])
        self._story.dealt += matches
        if keys and all(parts):
            self._story.witnessed += matches
        return decks.entropy(parts)

    def check_game(self, game: int, logged: LoggedGame) -> None:
        """Check that the decks were fixed before the game."""
        number, plan, fixed = logged.leaf, logged.plan, logged.fixed
        deal = logged.data.get("deal")
        if deal is None:
            if plan.asking.batch is not None:
                text = f"game {game} was played without the decks of its plan"
                self._story.add(Check.DECKS, text, number)
            return
        batch = self._story.batches.get(deal["batch"])
        is_again = game in self._story.replacements
        if plan.asking.batch is not None and game in self._story.dead:
            text = f"game {game} was dead, and was played after all with the same decks"
            self._story.add(Check.DECKS, text, number)
        elif not is_again and game not in self._story.dead:
            # A replacement has the decks of the voided game, which are known.
            self._require_secret(number, f"game {game}", deal["batch"])
        if batch is None or batch.commitment != deal["commitment"]:
            text = f"game {game} has decks of an unknown secret"
            self._story.add(Check.DECKS, text, number)
        for text in self._deal_problems(game, logged, batch):
            self._story.add(Check.DECKS, text, number)
        if fixed is None and plan.asking.batch is not None:
            text = f"game {game} was played before its decks were fixed"
            self._story.add(Check.DECKS, text, number)

    def _deal_problems(
        self, game: int, logged: LoggedGame, batch: Batch | None
    ) -> Iterator[str]:
        """Yield why the deal in the leaf of a game is not that of its match."""
        plan, deal, fixed = logged.plan, logged.data["deal"], logged.fixed
        renewed = plan.asking.leaf != plan.leaf
        first = plan if renewed else self._first_of_deal(logged.leaf, plan)
        if first is None:
            return
        source = plan.asking.hash if renewed else first.hash
        hashes = (deal.get("match_plan", deal["plan"]), deal["plan"])
        is_planned = hashes == (plan.hash.hex(), source.hex())
        if fixed is not None:
            stated = (deal["batch"], deal["size"], deal.get("entropy"))
            is_fixed = stated == (fixed.batch, fixed.size, fixed.entropy.hex())
        else:
            newest = max(plan.leaf, first.leaf)
            is_fixed = newest < deal["size"] <= logged.leaf
            if batch is not None and batch.leaf > min(plan.leaf, first.leaf):
                yield f"the secret of game {game} is younger than its plan"
        root = self._copy.roots.get(deal["size"], b"").hex()
        if not is_planned or root != deal["root"] or not is_fixed:
            whose = "its plan"
            if first is not plan:
                whose = f"the plan of match {first.data['match']}, whose deal it shares"
            yield f"the decks of game {game} do not follow from {whose}"

    def _first_of_deal(self, number: int, plan: Plan) -> Plan | None:
        """Return the plan from which the decks of a match have to follow.

        It is that of the match which the plan names in `deal_of`, or the plan itself.
        Return None if the named match has not the same rules or no deal to share.
        """
        named = plan.data.get("deal_of")
        if named is None:
            return plan
        first = self._story.plans.get(named)
        is_first = first is not None and first.data.get("deal_of") == named
        if first is not None and is_first and _rules(first) == _rules(plan):
            return first
        self._story.add(
            Check.DECKS,
            f"match {plan.data['match']} names the deal of match {named}, which has no"
            " such deal to share",
            number,
        )
        return None

    def _require_secret(self, number: int, what: str, batch: int) -> None:
        """Add a finding if the secret of a batch is public before this leaf."""
        known = self._story.batches.get(batch)
        if known is not None and known.revealed is not None:
            text = (
                f"the secret of batch {batch} was public (leaf {known.revealed}) before"
                f" {what} was over"
            )
            self._story.add(Check.SECRETS, text, number)

    def check_seeds(self) -> None:
        """Compare the decks that were fixed with the secrets that are public now."""
        for match, plan in self._story.plans.items():
            fixed = plan.fixed
            batch = self._story.batches.get(fixed.batch) if fixed else None
            if fixed is None or batch is None or batch.secret is None:
                continue
            root = self._copy.roots.get(fixed.size, b"")
            inputs = decks.DealInputs(fixed.source, fixed.size, root, fixed.entropy)
            seed = decks.match_seed(batch.secret, inputs)
            if decks.seed_hash(seed) != fixed.seed_hash:
                text = f"the decks of match {match} do not follow from the secret"
                self._story.add(Check.DECKS, text, fixed.leaf)


def _rules(plan: Plan) -> tuple[object, ...]:
    """Return what has to be equal in matches that share a deal."""
    return plan.data["ruleset"], plan.data["switches"], len(plan.data["games"][0])
