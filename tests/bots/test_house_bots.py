"""The house bots play every ruleset, with every number of seats."""

from typing import Any

import pytest

from engine.game import TorresGame
from engine.referee import play
from engine.rulesets import PRESETS, resolve
from engine.setup import derive
from ladder.bots.house_bots import COSTLY, HOUSE_FOLDER, ensure_house_bots
from ladder.bots.models import Bot
from torres.runner.languages import locate
from torres.runner.process import BotProcess
from torres.runner.protocol import Limits

BOTS = sorted(folder.name for folder in HOUSE_FOLDER.iterdir() if folder.is_dir())
RULESETS = sorted(PRESETS)
SEATS = (2, 3, 4)
# Bots that search use the time that they get: less time makes the games shorter.
LIMITS = {
    "champion": Limits(move_ms=80, bank_ms=1_000),
    "master": Limits(move_ms=80, bank_ms=1_000),
    "planner": Limits(move_ms=80, bank_ms=1_000),
    "searcher": Limits(move_ms=30, bank_ms=1_000),
}


def seats_in_turn(ruleset: str, bot: str) -> int:
    """Return a number of seats; every bot and every third ruleset gets each."""
    return SEATS[(RULESETS.index(ruleset) + BOTS.index(bot)) % len(SEATS)]


def is_slow(bot: str, ruleset: str, seats: int) -> bool:
    """True for two thirds of the games, and for more of a bot that searches."""
    rare = bot in LIMITS and RULESETS.index(ruleset) % 4 > 0
    return bot in COSTLY or rare or seats != seats_in_turn(ruleset, bot)


def game_parameters() -> list[object]:
    """Return all bots, rulesets and numbers of seats; most of them are slow."""
    return [
        pytest.param(
            bot,
            ruleset,
            seats,
            marks=[pytest.mark.deep] if is_slow(bot, ruleset, seats) else [],
        )
        for bot in BOTS
        for ruleset in RULESETS
        for seats in SEATS
    ]


@pytest.mark.slow
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


@pytest.mark.django_db
def test_a_costly_bot_joins_only_if_the_operator_wants_it(
    settings: Any,
) -> None:
    names = {bot.slug.removeprefix("house-") for bot in ensure_house_bots()}
    assert names == set(BOTS) - COSTLY

    settings.TORRES_COSTLY_HOUSE_BOTS = True
    names = {bot.slug.removeprefix("house-") for bot in ensure_house_bots()}
    assert names == set(BOTS)
    settings.TORRES_COSTLY_HOUSE_BOTS = False
    ensure_house_bots()
    assert Bot.objects.filter(slug="house-planner", house=True).count() == 1
