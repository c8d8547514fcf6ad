"""`manage.py train_dictionary ID`: train a Zstandard dictionary for stored replays.

A dictionary that was ever in use must not change, because stored replays name it by its
id. A new dictionary gets the next id, and `replays.NEWEST` is set to that id.
"""

import secrets
from argparse import ArgumentParser
from random import Random
from typing import Any

import zstandard
from django.core.management.base import CommandError

from engine import referee
from engine.documents import PlayerEntry, Replay
from engine.editions import PRESETS
from engine.game import TorresGame
from engine.rulesets import resolve
from engine.setup import derive
from ladder.common.arguments import whole_number
from ladder.common.commands import LongCommand
from ladder.games import replays
from ladder.games.models import MAX_SEATS
from ladder.ops.chaos.scripted_player import ScriptedPlayer
from ladder.ops.console import say

DICTIONARY_BYTES = 32 << 10
LIMITS = {"move_ms": 1000, "bank_ms": 10000}


class TimedPlayer(ScriptedPlayer):
    """Reports thinking times of some tenths of a millisecond, as small bots need."""

    def decide(self, ask: referee.Ask) -> referee.Answer:
        answer = super().decide(ask)
        return referee.Answer(
            answer.actions, answer.index, ms=self.rng.lognormvariate(-0.5, 0.8)
        )


class Command(LongCommand):
    help = "Play games of all rulesets and train a dictionary on their replays."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "id", type=whole_number(1, 10**6), help="the id of the new dictionary"
        )
        parser.add_argument(
            "--games",
            type=whole_number(1, 10**6),
            default=40,
            help="games per ruleset and number of seats",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        target = replays.FOLDER / f"replays-{options['id']}.zdict"
        if target.exists():
            raise CommandError(f"{target.name} already exists. Use the next id.")
        samples: list[bytes | bytearray | memoryview] = []
        for preset in PRESETS:
            for seats in range(2, MAX_SEATS + 1):
                kind = [replay(preset, seats) for _ in range(options["games"])]
                samples += [replays.with_columns(document) for document in kind]
                say(f"{len(samples)} games: {preset} for {seats}")
        dictionary = zstandard.train_dictionary(
            DICTIONARY_BYTES, samples, dict_id=options["id"]
        )
        target.write_bytes(dictionary.as_bytes())
        say(f"{target.name}: {len(dictionary.as_bytes())} bytes")


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
    rng = Random(secrets.randbits(64))  # noqa: S311 -- a name, no secret
    name = f"bot-{rng.randrange(10**6)}"
    digest = secrets.token_hex(32)
    number = rng.randrange(1, 40)
    return {"name": name, "bot": name, "submission": number, "digest": digest}
