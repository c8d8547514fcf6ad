"""The gain of an action is what the scoring gives for it."""

import pytest

from engine.game import TorresGame
from engine.rulesets import resolve
from engine.setup import derive
from ladder.extras.practice.gains import gains
from tests.engine.factories import RULESETS_AND_SEATS

SHOWN = 12  # actions of each position; each is played to the scoring


def play(game: TorresGame, *actions: str) -> TorresGame:
    copy = game.copy()
    for action in actions:
        copy.play(action)
    return copy


def last_turns(game: TorresGame) -> list[TorresGame]:
    """Play a game, and return the positions before the last turn of each phase."""
    found = []
    number = 0
    while not game.over:
        end = next((a for a in game.legal() if a.split()[0] == "end"), None)
        if end and len(play(game, end).scoring) > len(game.scoring):
            found.append(game.copy())
            game.play(end)
            continue
        game.play(game.legal()[number * 7 % len(game.legal())])
        number += 1
    return found


def scored(game: TorresGame, seat: int) -> int:
    """End the turn, and return the points of the scoring before the tie rule."""
    end = next(action for action in game.legal() if action.split()[0] == "end")
    scoring = play(game, end).scoring[-1]
    return sum(scoring[part][seat] for part in ("castles", "king", "master"))


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_a_gain_is_what_the_next_scoring_gives(ruleset: str, seats: int) -> None:
    rules = resolve(ruleset, seats)
    positions = last_turns(TorresGame(rules, derive(rules, "gains")))
    changes = 0
    for game in positions:
        seat = game.position.seat
        known = dict(zip(game.legal(), gains(game), strict=True))
        for action in game.legal()[:: max(1, len(known) // SHOWN)]:
            if action.split()[0] in ("end", "buy"):
                assert known[action] == (0, 0)
                continue
            after = play(game, action)
            if not any(each.split()[0] == "end" for each in after.legal()):
                continue  # the turn cannot end here
            now = after.state()["scores"][seat] - game.state()["scores"][seat]
            later = scored(after, seat) - scored(game, seat)
            assert known[action] == (now, later), action
            changes += bool(later)
    assert len(positions) == 3
    assert changes or (ruleset, seats) == ("rio-grande-2005", 3)  # nothing is worth it


def test_the_gains_of_the_king_belong_to_the_next_phase() -> None:
    rules = resolve("yucata", 2)
    game = last_turns(TorresGame(rules, derive(rules, "king")))[0]
    game.play(next(action for action in game.legal() if action.split()[0] == "end"))
    assert game.decision == "king"

    assert {gain.now for gain in gains(game)} == {0}
    assert {gain.later for gain in gains(game)} <= {0, 10, -10}
