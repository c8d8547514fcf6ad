"""The published JSON Schemas, against real games of all rulesets and damaged lines."""

import copy
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from jsonschema import Draft202012Validator

from engine import referee
from engine.faults import EndReason, Fault
from engine.game import TorresGame
from engine.referee import Answer, Ask, Hello, PlayerFault
from engine.rulesets import resolve
from engine.setup import derive
from tests.engine.factories import RULESETS_AND_SEATS
from torres.runner import protocol
from torres.runner.protocol import Limits

FOLDER = Path(settings.BASE_DIR) / "docs/schemas"
SAMPLE = 7  # of the messages, each seventh is validated: that takes 1 ms each


def validator(name: str) -> Draft202012Validator:
    document = json.loads((FOLDER / f"{name}.json").read_text())
    Draft202012Validator.check_schema(document)
    return Draft202012Validator(document)


REPLAY = validator("torres-replay-1")
MESSAGE = validator("torres-protocol-1")


class RandomPlayer:
    """Plays random actions, keeps every line of the protocol, and may fail."""

    def __init__(self, lines: list[bytes], fails_at: int) -> None:
        self.lines = lines
        self.rng = Random(1)
        self.decisions_left = fails_at

    def start(self, hello: Hello) -> None:
        self.lines += [protocol.encode_hello(hello), b'{"type":"ready","legal":true}']

    def decide(self, ask: Ask) -> Answer:
        self.lines.append(protocol.encode_decide(ask, legal=True))
        self.decisions_left -= 1
        if self.decisions_left == 0:
            raise PlayerFault(Fault.CRASH, "as planned")
        return Answer([self.rng.choice(ask.legal)], None, 0.1)

    def forfeit(self, reason: Fault, detail: str) -> None:
        message = {"type": "forfeit", "reason": reason, "detail": detail}
        self.lines.append(protocol.encode(message))

    def end(self, scores: list[int], ranks: list[int], reason: EndReason) -> None:
        message = {"type": "end", "scores": scores, "ranks": ranks, "reason": reason}
        self.lines.append(protocol.encode(message))

    def kill(self) -> None:
        """Nothing runs."""


def played(ruleset: str, seats: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the replay and all messages of a game in which the last seat fails."""
    rules = resolve(ruleset, seats)
    lines: list[bytes] = []
    players = [
        RandomPlayer(lines, fails_at=20 if seat == seats - 1 else 0)
        for seat in range(seats)
    ]
    limits = Limits().as_dict()
    game = TorresGame(rules, derive(rules, "s"))
    record = referee.play(game, players, seed="s", limits=limits)
    replay = record.replay(seed="s", players=[{"name": "x"}] * seats)
    return json.loads(json.dumps(replay)), [json.loads(line) for line in lines]


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_games_of_every_ruleset_have_the_published_form(
    ruleset: str, seats: int
) -> None:
    replay, messages = played(ruleset, seats)

    REPLAY.validate(replay)
    kinds = set()
    for number, message in enumerate(messages):
        if message["type"] != "decide" or number % SAMPLE == 0:
            MESSAGE.validate(message)
            kinds.add(message["type"])
    assert kinds == {"hello", "ready", "decide", "forfeit", "end"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["format"], "torres-replay/2"),
        (["seats"], 5),
        (["setup", "decks", 0, 0], "up3"),
        (["moves", 0, "actions"], []),
        (["moves", 0, "auto"], False),
        (["forfeits", 0, "reason"], "sleepy"),
        (["scoring", 0, "scores"], "10"),
        (["result", "reason"], "over"),
        (["switches", "order"], "random"),
    ],
)
def test_a_damaged_replay_does_not_have_the_form(path: list[Any], value: Any) -> None:
    replay, _ = played("yucata", 3)
    damaged = copy.deepcopy(replay)
    place = damaged
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value

    assert REPLAY.is_valid(replay)
    assert not REPLAY.is_valid(damaged)


@pytest.mark.parametrize(
    ("line", "valid"),
    [
        ('{"actions":["end"]}', True),
        ('{"index":0,"note":"why"}', True),
        ('{"type":"answer","actions":["end"]}', True),
        ('{"index":0,"actions":["end"]}', False),
        ('{"actions":[]}', False),
        ('{"index":-1}', False),
        ('{"type":"decide"}', False),
        ("[]", False),
    ],
)
def test_answers_are_judged_as_the_referee_judges_them(
    line: str,
    valid: bool,  # noqa: FBT001
) -> None:
    assert MESSAGE.is_valid(json.loads(line)) == valid
    try:
        judged = protocol.read_answer(line.encode()) is not None
    except PlayerFault:
        judged = False
    assert judged == valid


@pytest.mark.django_db
def test_the_service_serves_the_schemas() -> None:
    for file in sorted(FOLDER.iterdir()):
        answer = Client().get(f"/docs/schemas/{file.name}")
        assert answer.status_code == 200
        assert answer["Content-Type"] == "application/schema+json"
        assert answer.json() == json.loads(file.read_text())
    assert Client().get("/docs/schemas/none.json").status_code == 404
