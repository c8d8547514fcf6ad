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


def seats_in_turn(ruleset: str, bot: str) -> int:
    """Return a number of seats; every bot and every third ruleset gets each."""
    return SEATS[(RULESETS.index(ruleset) + BOTS.index(bot)) % len(SEATS)]


def game_parameters() -> list[object]:
    """Return all bots, rulesets and numbers of seats; two thirds of them are slow."""
    return [
        pytest.param(
            bot,
            ruleset,
            seats,
            marks=[pytest.mark.slow] if seats != seats_in_turn(ruleset, bot) else [],
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
    players = [BotProcess(program, none, Limits()) for _ in range(seats)]
    game = TorresGame(rules, derive(rules, "house"))

    record = play(game, players, seed="house", limits=Limits().as_dict())

    assert record.forfeits == []
