"""The house bots play every ruleset, with every number of seats."""

import pytest

from engine.game import TorresGame
from engine.referee import play
from engine.rulesets import PRESETS, resolve
from engine.setup import derive
from ladder.bots.house_bots import HOUSE_FOLDER
from ladder.runner.languages import locate
from ladder.runner.process import BotProcess
from ladder.runner.protocol import Limits

BOTS = sorted(folder.name for folder in HOUSE_FOLDER.iterdir() if folder.is_dir())
RULESETS = sorted(PRESETS)
SEATS = (2, 3, 4)
# Bots that search use the time that they get: less time makes the games shorter.
LIMITS = {"searcher": Limits(move_ms=30, bank_ms=1_000)}


def seats_in_turn(ruleset: str, bot: str) -> int:
    """Return a number of seats; every bot and every third ruleset gets each."""
    return SEATS[(RULESETS.index(ruleset) + BOTS.index(bot)) % len(SEATS)]


def is_slow(bot: str, ruleset: str, seats: int) -> bool:
    """True for two thirds of the games, and for more of a bot that searches."""
    rare = bot in LIMITS and RULESETS.index(ruleset) % 4 > 0
    return rare or seats != seats_in_turn(ruleset, bot)


def game_parameters() -> list[object]:
    """Return all bots, rulesets and numbers of seats; most of them are slow."""
    return [
        pytest.param(
            bot,
            ruleset,
            seats,
            marks=[pytest.mark.slow] if is_slow(bot, ruleset, seats) else [],
        )
        for bot in BOTS
        for ruleset in RULESETS
        for seats in SEATS
    ]


@pytest.mark.parametrize(("bot", "ruleset", "seats"), game_parameters())
def test_a_house_bot_plays_without_a_forfeit(
    bot: str, ruleset: str, seats: int, none
) -> None:
    rules = resolve(ruleset, seats)
    program = locate(HOUSE_FOLDER / bot)
    limits = LIMITS.get(bot, Limits())
    players = [BotProcess(program, none, limits) for _ in range(seats)]
    game = TorresGame(rules, derive(rules, "house"))

    record = play(game, players, seed="house", limits=limits.as_dict())

    assert record.forfeits == []
