"""Check the replay of a game against the log: its actions, its result and its decks."""

from collections.abc import Iterator, Mapping
from typing import Any

from engine import replay as replays
from engine.errors import EngineError
from engine.replay_format import InvalidReplay
from engine.rulesets import resolve
from engine.setup import derive
from torres.auditing.findings import AuditFinding, Check
from torres.auditing.logged import Story
from torres.common.json_object import JsonObject
from torres.tlog import decks
from torres.tlog.leaves import replay_digest

RESULT = ("scores", "ranks", "reason")


def check_replay(story: Story, game: int, replay: JsonObject) -> Iterator[AuditFinding]:
    """Yield what is wrong with the replay of a game that the log has."""
    logged = story.games[game]
    if replay_digest(replay) != logged.data["replay"]:
        yield AuditFinding(
            Check.REPLAYS,
            f"the replay of game {game} is not the one that the log has",
            logged.leaf,
        )
        return
    try:
        replays.verify(replay)
    except InvalidReplay as error:
        text = f"the replay of game {game} is not valid: {error}"
        yield AuditFinding(Check.REPLAYS, text, logged.leaf)
        return
    if logged.fixed and logged.fixed.seed_hash != decks.seed_hash(_seed(replay)):
        text = f"game {game} was played with other decks than were fixed before"
        yield AuditFinding(Check.DECKS, text, logged.leaf)
    secret = None
    deal = logged.data.get("deal")
    if deal and deal["batch"] in story.batches:
        secret = story.batches[deal["batch"]].secret
    for text in problems(logged.data, logged.plan.data, replay, secret):
        yield AuditFinding(Check.DECKS, f"game {game}: {text}", logged.leaf)


def problems(
    end: Mapping[str, Any],
    plan: Mapping[str, Any],
    replay: Mapping[str, Any],
    secret: bytes | None,
) -> Iterator[str]:
    """Yield what does not fit between a valid replay and the leaves of its game.

    `end` is the data of the leaf of the game, and `plan` that of its match. Without the
    secret nobody can tell yet whether the seed follows from it.
    """
    if {key: end[key] for key in RESULT} != replay.get("result"):
        yield "the result is not that of its leaf"
    seats = plan["games"][end["index"]] if end["index"] < len(plan["games"]) else ()
    digests = [plan["submissions"].get(str(seat)) for seat in seats]
    players = [player.get("digest") for player in replay["players"]]
    if players != digests:
        yield "other submissions played than were planned"
    yield from _setup_problems(plan, replay)
    deal = end.get("deal")
    if deal and secret is not None:
        the_deal = decks.DealInputs(
            plan=bytes.fromhex(deal["plan"]),
            size=deal["size"],
            root=bytes.fromhex(deal["root"]),
            entropy=bytes.fromhex(deal.get("entropy", "")),
        )
        if decks.match_seed(secret, the_deal) != _seed(replay):
            yield "the seed does not follow from the secret of its batch"


def _seed(replay: Mapping[str, Any]) -> str:
    """Return the seed of a replay, which the engine does not check."""
    return str(replay.get("seed", ""))


def _setup_problems(
    plan: Mapping[str, Any], replay: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what does not fit between a plan, the seed, and the decks."""
    try:
        rules = resolve(plan["ruleset"], replay["seats"], plan["switches"])
        setup = derive(rules, _seed(replay))
    except (EngineError, TypeError) as error:
        yield f"its rules cannot be read: {error}"
        return
    if rules.switches() != replay["switches"]:
        yield "it was played with other rules than were planned"
    expected = {
        "first": setup.first,
        "decks": [list(deck) for deck in setup.decks],
        "master": setup.master,
    }
    if replay["setup"] != expected:
        yield "the decks do not follow from the seed"
