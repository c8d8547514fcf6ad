# ruff: noqa: PLC0415 - Django is set up first
"""The cost of the public log: CPU and bytes of a game, proofs, receipts.

CPU is that of this process and of its PostgreSQL backend together. A game has three
leaves: its plan, its result, and the ratings after it; one more leaf has the decks of
16 games. All tables have four seats. The large log has a million leaves. Run it with
`python -m tests.bench.public_log`.
"""

import time
from collections.abc import Callable
from functools import partial
from random import Random
from statistics import fmean, median

from tests.bench.execution import _cpu, _servers
from tests.bench.sizes import size

Row = tuple[str, float, str, bool]

GAMES = size(4096, short=32)
PASS_GAMES = 16  # that the dispatcher logs at once
LEAVES = size(1_000_000, short=1_000)
STEP = 25_600
PROOFS = size(200, short=2)
VERIFIED = size(3000, short=10)
MAX_GAME_MS = 2
RECEIPT_BYTES = 2304
"""Two and a quarter KiB: 2,037 and 2,053 bytes were measured for different leaves."""
SEATS = 4


def measure() -> list[Row]:
    """Return rows of (name, value, target, True if the target is met)."""
    with _servers():
        costs, size = _games()
        proof, receipt_bytes, rate = _large_log()
    return [
        _game_row("public log, ms of CPU a game", median(costs)),
        _game_row("the mean, with complete bundles", fmean(costs)),
        ("public log, bytes a game", size, "≤ 1024", size <= 1024),
        ("inclusion proof, 1,000,000 leaves, ms", proof, "≤ 10", proof <= 10),
        (
            "receipt, bytes",
            receipt_bytes,
            f"≤ {RECEIPT_BYTES}",
            receipt_bytes <= RECEIPT_BYTES,
        ),
        ("receipts verified a second", rate, "≥ 1000", rate >= 1000),
    ]


def _game_row(what: str, cost: float) -> Row:
    return what, cost, f"≤ {MAX_GAME_MS}", cost <= MAX_GAME_MS


def _games() -> tuple[list[float], float]:
    """Return the CPU of a game in each pass, and the bytes that a game takes."""
    from ladder.games import dealing, services, sql
    from ladder.games.models import Game, Match
    from ladder.public_log import batches
    from ladder.public_log.head_file import HeadFile
    from ladder.public_log.keys import load_key
    from ladder.public_log.sequencer import sequence
    from tests.games import factories

    seats = [factories.newest(bot) for bot in factories.bots(SEATS)]
    terms = services.MatchTerms("yucata", {}, factories.LIMITS, ladder="main", why=WHY)
    key, head_file = load_key(), HeadFile.of_service()
    batches.prepare(key)
    costs = []
    for first in range(0, GAMES, PASS_GAMES):
        plans = [services.PlannedMatch(terms, seats) for _ in range(PASS_GAMES)]
        matches = services.schedule_matches(Match.Kind.COMPARISON, plans)
        Match.objects.filter(pk__in=[m.pk for m in matches]).update(kind="ladder")
        games = dict(Game.objects.filter(match__in=matches).values_list("match", "pk"))
        Match.objects.filter(pk__in=games).update(seed="")
        for match in matches:
            match.seed = ""
        finished = {pk: _finished(pk, games[pk]) for pk in games}
        began = _cpu()
        _record(matches, seats, first)
        for planned, game in games.items():
            leaf = finished[planned]
            sql.execute(sql.insert_finished_fact(game, "{}", "[]", leaf))
        sequence(key, head_file, partial(dealing.deal, key))
        costs.append((_cpu() - began) * 1e3 / PASS_GAMES)
    return costs, _bytes() / GAMES


WHY = {"reason": "these games should tell most", "gain": 0.123456789, "turn": 17}


def _record(matches: list, seats: list, first: int) -> None:
    from django.db import transaction

    from ladder.events.outbox import NewLeaf, fact, record_all
    from ladder.games import facts
    from torres.tlog.leaves import LeafKind

    with transaction.atomic():
        plans = [facts.plan(match, {}, [seats]) for match in matches]
        record_all(fact(leaf=plan) for plan in plans)
    with transaction.atomic():
        rng = Random(first)
        record_all(
            fact(leaf=NewLeaf(LeafKind.RATING_CHANGED, None, _rating(first + k, rng)))
            for k in range(len(matches))
        )


def _rating(game: int, rng: Random) -> dict[str, object]:
    return {
        "ladder": "main",
        "season": 1,
        "seq": game,
        "kind": "game",
        "game": game,
        "after": [[seat, rng.random(), rng.random()] for seat in range(SEATS)],
    }


def _finished(match: int, game: int) -> str:
    from torres.tlog.leaves import canonical

    rng = Random(game)
    return canonical(
        {
            "game": game,
            "match": match,
            "index": 0,
            "attempt": 1,
            "replay": rng.randbytes(32).hex(),
            "scores": [rng.randrange(200) for _ in range(SEATS)],
            "ranks": [1, 2, 3, 4],
            "reason": "completed",
            "deal": {
                "batch": 1,
                "commitment": "ab" * 32,
                "plan": rng.randbytes(32).hex(),
                "size": 1_000_000,
                "root": rng.randbytes(32).hex(),
                "entropy": "cd" * 32,
            },
        }
    )


def _bytes() -> float:
    """Return the bytes of the log's tables, and of what it adds to matches."""
    from django.db import connection

    from ladder.public_log import models

    tables = [models.LogLeaf, models.LogTile, models.LogBundle]
    with connection.cursor() as cursor:
        cursor.execute("VACUUM FULL")
        total = 0
        for table in tables:
            name = table._meta.db_table
            cursor.execute("SELECT pg_total_relation_size(%s)", [name])
            total += cursor.fetchone()[0]
    columns = 8 + 32 + 8 + 32 + 2  # batch, plan, size, root, lengths
    return total + columns * GAMES


def _large_log() -> tuple[float, float, float]:  # noqa: PLR0915 - one story
    """Return ms of a proof, bytes of a receipt, and receipts verified a second."""
    from ladder.games import facts
    from ladder.games.models import Match
    from ladder.public_log import sequencer, tree
    from ladder.public_log.keys import load_key
    from ladder.public_log.models import LogHead
    from torres.tlog.checkpoints import TreeHead
    from torres.tlog.leaves import LeafKind, canonical, leaf_text
    from torres.tlog.merkle import Frontier, inclusion_proof
    from torres.tlog.notes import VerifierKey
    from torres.tlog.receipts import Receipt, parse_receipt

    head = LogHead.objects.get()
    frontier = Frontier.load(head.size, bytes(head.frontier))
    while frontier.size < LEAVES:
        leaves = [
            sequencer.NumberedLeaf(number, LeafKind.ATTEMPT_ENDED, None, str(number))
            for number in range(frontier.size, frontier.size + STEP)
        ]
        sequencer._store(leaves, frontier)
    signed = TreeHead(head.origin, frontier.size, frontier.root())
    key = load_key()
    sequencer._sign(head, signed, frontier, key)
    head = LogHead.objects.get()
    rng = Random(1)
    times = []
    for _ in range(PROOFS):
        index = rng.randrange(head.size)
        began = time.perf_counter()
        proof = inclusion_proof(index, head.size, tree.nodes(head.size).node)
        times.append((time.perf_counter() - began) * 1e3)
    match = Match.objects.latest("pk")
    game = match.games.get()
    plan = facts.plan(match, {}, [[seat.submission for seat in game.seats.all()]])
    extra = {
        "leaf": tree.text(index).decode(),
        "plan": leaf_text(plan.kind, match.created_at, canonical(plan.data)),
        "secret": rng.randbytes(32).hex(),
    }
    leaf = leaf_text(
        LeafKind.GAME_FINISHED, match.created_at, _finished(match.pk, game.pk)
    )
    size = len(Receipt(index, proof, head.checkpoint, {**extra, "leaf": leaf}).dump())
    receipt = Receipt(index, proof, head.checkpoint, extra).dump()
    public = VerifierKey.parse(head.key)
    rate = _rate(lambda: parse_receipt(receipt).verify(public))
    return median(times), size, rate


def _rate(action: Callable[[], object]) -> float:
    began = time.process_time()
    for _ in range(VERIFIED):
        action()
    return VERIFIED / (time.process_time() - began)


if __name__ == "__main__":
    for row in measure():
        print(row)
