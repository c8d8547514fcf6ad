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


@pytest.mark.parametrize("bot", BOTS)
@pytest.mark.parametrize("ruleset", sorted(PRESETS))
def test_a_house_bot_plays_without_a_forfeit(bot: str, ruleset: str, none) -> None:
    for seats in (2, 3, 4):
        rules = resolve(ruleset, seats)
        program = locate(HOUSE_FOLDER / bot)
        players = [BotProcess(program, none, Limits()) for _ in range(seats)]
        game = TorresGame(rules, derive(rules, "house"))

        record = play(game, players, seed="house", limits=Limits().as_dict())

        assert record.forfeits == [], (seats, record.forfeits)
