"""Train a Zstandard dictionary for stored replays.

    python manage.py shell -c "from tests.games import train_dictionary as tool
    tool.train(2, games=40)"

A dictionary that was ever in use must not change, because stored replays name it by its
id. A new dictionary gets the next id, and `replays.NEWEST` is set to that id.
"""

import secrets
import sys
from random import Random

import zstandard

from engine import referee
from engine.documents import PlayerEntry, Replay
from engine.editions import PRESETS
from engine.game import TorresGame
from engine.rulesets import resolve
from engine.setup import derive
from ladder.games import replays
from ladder.ops.chaos.scripted_player import ScriptedPlayer

DICTIONARY_BYTES = 32 << 10
LIMITS = {"move_ms": 1000, "bank_ms": 10000}
SEATS = (2, 3, 4)


class TimedPlayer(ScriptedPlayer):
    """Reports thinking times of some tenths of a millisecond, as small bots need."""

    def decide(self, ask: referee.Ask) -> referee.Answer:
        answer = super().decide(ask)
        return referee.Answer(
            answer.actions, answer.index, ms=self.rng.lognormvariate(-0.5, 0.8)
        )


def replay(preset: str, seats: int) -> Replay:
    """Play one game between random players and return its replay."""
    rules, seed = resolve(preset, seats, {}), secrets.token_hex(16)
    outcome = referee.play(
        TorresGame(rules, derive(rules, seed)),
        [TimedPlayer(secrets.token_hex(8)) for _ in range(seats)],
        seed=seed,
        limits=LIMITS,
    )
    return outcome.replay(seed=seed, players=[_random_identity() for _ in range(seats)])


def _random_identity() -> PlayerEntry:
    rng = Random(secrets.randbits(64))
    name = f"bot-{rng.randrange(10**6)}"
    digest = secrets.token_hex(32)
    number = rng.randrange(1, 40)
    return {"name": name, "bot": name, "submission": number, "digest": digest}


def train(number: int, games: int) -> None:
    """Train the dictionary with this id on games of each ruleset and table size."""
    target = replays.FOLDER / f"replays-{number}.zdict"
    if target.exists():
        sys.exit(f"{target.name} already exists. Use the next id.")
    samples: list[bytes | bytearray | memoryview] = []
    for preset in PRESETS:
        for seats in SEATS:
            kind = [replay(preset, seats) for _ in range(games)]
            samples += [replays.with_columns(document) for document in kind]
            print(f"{len(samples)} games: {preset} for {seats}")
    dictionary = zstandard.train_dictionary(DICTIONARY_BYTES, samples, dict_id=number)
    target.write_bytes(dictionary.as_bytes())
    print(f"{target.name}: {len(dictionary.as_bytes())} bytes")
