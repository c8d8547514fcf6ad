"""The time of an audit: of a log with a hundred thousand games, and of folding it.

The service of this benchmark is a log in memory, with one replay that all its games of
a size share. So the time of a network and of another host's database is not in it. Run
it with `python -m tests.bench.audit`.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from tests.bench.sizes import size
from tests.engine.factories import random_replay
from torres.auditing.auditor import Trust, audit
from torres.auditing.mirror import LogCopy
from torres.auditing.public_view import ReadLeaderboard
from torres.auditing.ratings import RatingsAudit
from torres.auditing.statistics import ReadStatistics
from torres.auditing.story import StoryReader
from torres.auditing.tournaments import ReadTournament
from torres.common.answers import BotAnswer, GameAnswer
from torres.rating.joint_claims import interval_95_errors
from torres.rating.ledger import EntryKind, LedgerLine, LedgerState, step
from torres.rating.season_fit import fit_season, read_season
from torres.rating.shared_votes import Voter
from torres.rating.tallies import Tallies
from torres.tlog import decks
from torres.tlog.checkpoints import TreeHead
from torres.tlog.leaves import LeafKind, canonical, leaf_text, name_hash, replay_digest
from torres.tlog.merkle import Frontier, leaf_hash
from torres.tlog.notes import SignedNote, SigningKey
from torres.tlog.tiles import BUNDLES, TILE_WIDTH, pack_bundle, tile_path

Row = tuple[str, float, str, bool]

GAMES = size(100_000, short=60)
BOTS = size(100, short=6)
AT_ONCE = 16
"""Matches whose decks are fixed by one leaf."""
AUDIT_S = 300.0
FOLDED_MS = 0.6
"""A million games in ten minutes."""
ORIGIN = "bench.example/log"
DIGEST = "d" * 64
SEASON = ("main", 1)
FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def measure() -> list[Row]:
    """Return rows of (name, value, target, True if the target is met)."""
    service = LoggedService()
    service.play(GAMES)
    with TemporaryDirectory() as folder:
        began = time.process_time()
        report = audit(Path(folder), service.fetch, service, _ignore, Trust())
        spent = time.process_time() - began
    assert report.findings == [], report.findings[:3]
    assert report.games == report.replays == GAMES
    began = time.process_time()
    story = StoryReader(LogCopy.build(service.head(), service.leaves), FIRST).read()
    list(RatingsAudit(story, {}, {}).check())
    folded = (time.process_time() - began) * 1000 / GAMES
    what = f"audit of {GAMES:,} games, s of CPU"
    return [
        (what, spent, f"≤ {AUDIT_S:.0f}", spent <= AUDIT_S),
        (
            "folding a game of the log, ms",
            folded,
            f"≤ {FOLDED_MS}",
            folded <= FOLDED_MS,
        ),
    ]


def _ignore(_step: str, _done: int, _total: int) -> None:
    """Show no progress."""


class LoggedService:
    """A log with games of a season, and what a service shows of it."""

    def __init__(self) -> None:
        self.leaves: list[bytes] = []
        self._tree = Frontier()
        self._key = SigningKey.generate(ORIGIN)
        self._rng = Random(37)
        self._state = LedgerState()
        self._tallies = Tallies()
        self._seq = 0
        self._games: list[GameAnswer] = []
        self._results: list[tuple[int, int, list[tuple[int, int]]]] = []
        self._replays = {seats: self._replay(seats) for seats in (2, 3, 4)}
        self._log(LeafKind.LOG_STARTED, {"name": ORIGIN})
        commitment = decks.commitment(b"secret")
        batch = {"batch": 1, "commitment": commitment, "witnesses": []}
        self._log(LeafKind.BATCH_COMMITTED, batch)
        parameters = {"mu": 25.0, "sigma": 25 / 3, "beta": 25 / 6, "tau": 0.008}
        self._rate(EntryKind.SEASON_START, {"parameters": parameters})
        for bot in range(1, BOTS + 1):
            upload = {"submission": bot, "digest": DIGEST}
            self._log(LeafKind.SUBMISSION_ACCEPTED, upload)
            name = {"bot": bot, "hash": name_hash(b"", f"bot-{bot}", f"bot-{bot}")}
            self._log(LeafKind.BOT_NAMED, name)
            self._rate(EntryKind.JOIN, {"bot": bot, **upload})

    def _replay(self, seats: int) -> dict[str, Any]:
        replay = random_replay("yucata", seats, "bench")
        players = [{"name": f"p{seat}", "digest": DIGEST} for seat in range(seats)]
        return {**replay, "players": players}

    def _log(self, kind: LeafKind, data: Mapping[str, object]) -> bytes:
        """Add a leaf, and return its hash."""
        moment = FIRST + timedelta(seconds=len(self.leaves) // 50)
        leaf = leaf_text(kind, moment, canonical(data)).encode()
        self.leaves.append(leaf)
        hashed = leaf_hash(leaf)
        self._tree.append(hashed)
        return hashed

    def _rate(
        self, kind: EntryKind, inputs: Mapping[str, Any], game: int | None = None
    ) -> None:
        self._seq += 1
        changes = step(self._state, LedgerLine(self._seq, kind, inputs, game))
        self._log(
            LeafKind.RATING_CHANGED,
            {
                "ladder": SEASON[0],
                "season": SEASON[1],
                "seq": self._seq,
                "kind": kind,
                **({"game": game} if game else {"inputs": inputs}),
                "after": [[change["bot"], *change["after"]] for change in changes],
            },
        )

    def play(self, games: int) -> None:
        """Plan, deal, finish and rate games, some at once."""
        while len(self._games) < games:
            count = min(AT_ONCE, games - len(self._games))
            first = len(self._games) + 1
            planned = [self._plan(first + k) for k in range(count)]
            root, tree = self._tree.root().hex(), self._tree.size
            entropy = decks.entropy(())
            fixed = [
                [match, decks.seed_hash(str(self._replays[len(seats)]["seed"]))]
                for match, (_, seats) in enumerate(planned, first)
            ]
            deal = {"batch": 1, "size": tree}
            dealt = deal | {"cosignatures": [], "decks": fixed}
            self._log(LeafKind.DECKS_FIXED, dealt)
            deal |= {"commitment": decks.commitment(b"secret"), "root": root}
            deal |= {"entropy": entropy.hex()}
            for number, (plan, seats) in enumerate(planned, first):
                self._finish(number, seats, {**deal, "plan": plan.hex()})

    def _plan(self, number: int) -> tuple[bytes, list[int]]:
        seats = self._rng.sample(range(1, BOTS + 1), self._rng.choice((2, 3, 4)))
        plan = {
            "match": number,
            "kind": "ladder",
            "ladder": SEASON[0],
            "ruleset": "yucata",
            "switches": {},
            "submissions": {str(seat): DIGEST for seat in seats},
            "games": [seats],
            "why": {},
            "hours": 24.0,
            "decks": {"rule": decks.RULE, "batch": 1},
        }
        return self._log(LeafKind.MATCH_PLANNED, plan), seats

    def _finish(self, number: int, seats: list[int], deal: dict[str, Any]) -> None:
        replay = self._replays[len(seats)]
        result = replay["result"]
        end = {"game": number, "match": number, "index": 0, "attempt": 1, **result}
        moment = FIRST + timedelta(seconds=len(self.leaves) // 50)
        digest = replay_digest(replay)
        self._log(LeafKind.GAME_FINISHED, {**end, "replay": digest, "deal": deal})
        faults = {each["seat"]: each["reason"] for each in replay["forfeits"]}
        rated = [
            {"bot": bot, "rank": rank, "fault": faults.get(seat, "")}
            for seat, (bot, rank) in enumerate(zip(seats, result["ranks"], strict=True))
        ]
        self._tallies.add(rated)
        places = list(zip(seats, result["ranks"], strict=True))
        self._results.append((number, number, places))
        self._rate(EntryKind.GAME, {"seats": rated}, number)
        self._games.append(
            {
                "id": number,
                "match": number,
                "index": 0,
                "status": "finished",
                "ruleset": "yucata",
                "ladder": SEASON[0],
                "reason": result["reason"],
                "finished_at": moment.isoformat(),
                "seats": [
                    {
                        "seat": seat,
                        "bot": f"bot-{bot}",
                        "name": f"bot-{bot}",
                        "submission": bot,
                        "number": 1,
                        "score": result["scores"][seat],
                        "rank": result["ranks"][seat],
                        "forfeit": faults.get(seat),
                    }
                    for seat, bot in enumerate(seats)
                ],
            }
        )

    def head(self) -> TreeHead:
        return TreeHead(ORIGIN, self._tree.size, self._tree.root())

    def fetch(self, path: str) -> bytes:
        """Return a file of the log."""
        if path == "checkpoint":
            text = self.head().text()
            return str(SignedNote(text, [self._key.sign(text)])).encode()
        if path == "key":
            return f"{self._key.verifier}\n".encode()
        if path == "cosignatures":
            return b""
        return self._bundles()[path]

    def _bundles(self) -> dict[str, bytes]:
        if not hasattr(self, "_packed"):
            self._packed = {}
            for index in range(0, len(self.leaves), TILE_WIDTH):
                part = self.leaves[index : index + TILE_WIDTH]
                path = tile_path(BUNDLES, index // TILE_WIDTH, len(part))
                self._packed[path] = pack_bundle(part)
        return self._packed

    def games(self) -> Iterable[GameAnswer]:
        return self._games

    def replays(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for game in self._games:
            yield game["id"], self._replays[len(game["seats"])]

    def bots(self) -> Iterator[BotAnswer]:
        for bot in range(1, BOTS + 1):
            yield {
                "id": bot,
                "owner": f"owner-{bot}",
                "name_salt": "",
                "slug": f"bot-{bot}",
                "name": f"bot-{bot}",
                "house": False,
                "status": "active",
            }

    def tournaments(self) -> Iterable[ReadTournament]:
        return []

    def datasets(self) -> dict[str, str]:
        return {}

    def leaderboards(self) -> Iterator[ReadLeaderboard]:
        bots = self._state.bots
        best = sorted((bots[bot].skill.shown_rating for bot in bots), reverse=True)
        joint = self._joint()
        rows: list[Any] = [
            {
                "rank": best.index(state.skill.shown_rating) + 1,
                "bot": f"bot-{bot}",
                "id": bot,
                "name": f"bot-{bot}",
                "mu": state.skill.mu,
                "sigma": state.skill.sigma,
                "rating": state.skill.shown_rating,
                "games": state.games,
                "forfeits": state.forfeits,
                "joint": joint.get(bot),
            }
            for bot, state in bots.items()
        ]
        yield ReadLeaderboard(SEASON, self._seq, rows, self._seq)

    def _joint(self) -> dict[int, object]:
        """Return the strengths of all bots with enough games."""
        read = read_season(self._results)
        voters = [Voter(bot, bot) for bot in read.submissions]
        playing = {bot: bot for bot in self._state.bots}
        fitted = fit_season(read, self._state.parameters, voters, [], playing)
        half = {
            each.bot: interval_95_errors(each.games) * each.error for each in fitted
        }
        return {
            each.bot: {
                "value": each.value,
                "low": each.value - half[each.bot],
                "high": each.value + half[each.bot],
                "best": each.best,
                "worst": each.worst,
                "games": each.games,
            }
            for each in fitted
        }

    def statistics(self, _: Iterable[ReadLeaderboard]) -> Iterator[ReadStatistics]:
        counted: dict[str, Any] = {"season": SEASON[1], "counted_seq": self._seq}
        strength: dict[int, list[dict[str, Any]]] = {}
        for (bot, players, seat), seats in self._tallies.seats.items():
            share = seats.halves / (2 * (players - 1) * seats.games)
            row = {"players": players, "seat": seat, "games": seats.games}
            row |= {"wins": seats.wins, "share": share}
            strength.setdefault(bot, []).append(row)
        met: dict[int, list[dict[str, Any]]] = {}
        for (bot, other), meeting in self._tallies.meetings.items():
            met.setdefault(bot, []).append({"other": f"bot-{other}", **asdict(meeting)})
        for bot, rows in met.items():
            record: Any = counted | {"strength": strength[bot]}
            page: Any = counted | {"count": len(rows), "results": rows}
            yield ReadStatistics(SEASON, bot, f"bot-{bot}", record, [page])


if __name__ == "__main__":
    for row in measure():
        print(*row)
