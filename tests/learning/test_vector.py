"""Many games in one call."""

import os
import subprocess
import sys

import numpy as np
import pytest

import engine
from engine import kernel
from engine.errors import BadSwitch, IllegalAction
from engine.moves import OVER
from engine.observation import ACTION_COUNT, ACTIONS, OBSERVATION_SIZE
from engine.rulesets import PRESETS
from torres.learning import torres_v0
from torres.learning.vector import GamesStep, TorresGames

TABLES = [
    pytest.param(
        ruleset, seats, marks=[] if ruleset == "yucata" else [pytest.mark.deep]
    )
    for ruleset in PRESETS
    for seats in (2, 3, 4)
]


def choose(step: GamesStep, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in step.masks])


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_the_games_are_those_of_single_environments(ruleset: str, seats: int) -> None:
    games = TorresGames(2, ruleset, seats)
    step = games.reset(seed=9)
    # The same games as single ones: the generator of the seeds is the same one.
    single = torres_v0.raw_env(ruleset=ruleset, seats=seats)
    single.reset(seed=9)
    rng = np.random.default_rng(1)
    while True:
        agent = single.agent_selection
        seen = single.observe(agent)
        assert agent == f"seat_{step.seats[0]}"
        assert np.array_equal(seen["observation"], step.observations[0])
        assert np.array_equal(seen["action_mask"], step.masks[0])
        actions = choose(step, rng)
        single.step(int(actions[0]))
        step = games.step(actions)
        assert step.finished[0] == (single.position.decision == OVER)
        if step.finished[0]:
            break
        assert not step.rewards[0].any()
    assert step.rewards[0].tolist() == pytest.approx(list(single.rewards.values()))


def seats_that_start(seed: int) -> list[int]:
    """Return who starts in 40 games of `yucata`, which is drawn by lot."""
    return list(TorresGames(40).reset(seed=seed).seats)


def test_games_begin_anew_and_equal_seeds_give_equal_games() -> None:
    played = []
    for _ in range(2):
        games = TorresGames(5)
        step = games.reset(seed=3)
        rng = np.random.default_rng(4)
        finished = np.zeros(5, int)
        for _ in range(400):
            step = games.step(choose(step, rng))
            finished += step.finished
        played.append((step.observations.tolist(), finished.tolist()))

    assert played[0] == played[1]
    assert min(played[0][1]) >= 1
    assert seats_that_start(3) == seats_that_start(3) != seats_that_start(4)


PLAYED = """
import hashlib
import numpy as np
import engine
from engine import kernel
from torres.learning.vector import TorresGames
games = TorresGames(4)
step = games.reset(seed=5)
rng = np.random.default_rng(6)
digest = hashlib.sha256()
for _ in range(300):
    step = games.step([rng.choice(np.flatnonzero(mask)) for mask in step.masks])
    digest.update(step.observations)
    digest.update(step.masks)
print(engine.compiled, digest.hexdigest())
"""


def played(pure: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PLAYED],
        env=os.environ | {"TORRES_PURE": pure},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.skipif(not engine.compiled, reason="the kernel is not compiled")
def test_compiled_and_plain_games_are_the_same() -> None:
    assert played("0") == ["True", played("1")[1]]


def test_an_illegal_action_changes_no_game() -> None:
    games = TorresGames(3)
    step = games.reset(seed=1)
    before = step.observations.copy(), step.masks.copy()
    legal = choose(step, np.random.default_rng(1))
    for wrong in (-1, ACTION_COUNT, int(np.flatnonzero(step.masks[1] == 0)[0])):
        actions = legal.copy()
        actions[1] = wrong
        with pytest.raises(IllegalAction, match="in game 1"):
            games.step(actions)
    for wrong in (legal[:2], legal.reshape(3, 1), legal[0], []):
        with pytest.raises(ValueError, match="actions"):
            games.step(wrong)
    for kind in (np.float64, bool, object, "U9", complex):
        with pytest.raises(ValueError, match="not whole numbers"):
            games.step(legal.astype(kind))
    with pytest.raises(IllegalAction, match=f"{2**64 - 1}.*in game 1"):
        games.step(np.array([legal[0], 2**64 - 1, legal[2]], np.uint64))

    assert np.array_equal(step.observations, before[0])
    assert np.array_equal(step.masks, before[1])
    games.step(legal)


def test_changed_masks_let_no_illegal_action_through() -> None:
    games = TorresGames(2)
    step = games.reset(seed=1)
    illegal = np.flatnonzero(step.masks[0] == 0)[:1].repeat(2)
    step.masks.fill(1)
    step.legal.fill(-1)
    step.starts.fill(2**30)

    with pytest.raises(IllegalAction, match="in game 0"):
        games.step(illegal)
    assert games.reset(seed=1).masks.sum() == games.reset(seed=1).starts[-1]


def test_the_lists_have_the_actions_of_the_masks() -> None:
    games = TorresGames(4, "torres-3d", 3)
    step = games.reset(seed=2)
    rng = np.random.default_rng(2)
    for _ in range(300):
        for game, mask in enumerate(step.masks):
            ids = step.legal[step.starts[game] : step.starts[game + 1]]
            assert sorted(ids) == np.flatnonzero(mask).tolist()
        kept = step.legal.copy(), step.legal
        step = games.step(step.legal[rng.integers(step.starts[:-1], step.starts[1:])])
        assert np.array_equal(*kept)


@pytest.mark.parametrize("games", [0, -1, 100_001, 2.5, "2", None])
def test_a_wrong_number_of_games_is_refused(games: object) -> None:
    with pytest.raises(ValueError, match="games is"):
        TorresGames(games)


def test_an_unknown_reward_is_refused() -> None:
    with pytest.raises(ValueError, match="reward is 'win'"):
        TorresGames(2, reward="win")


def test_the_arrays_have_the_documented_shapes() -> None:
    step = TorresGames(3, "torres-3d", 4, reward="margin").reset()

    assert step.observations.shape == (3, OBSERVATION_SIZE)
    assert step.masks.shape == (3, ACTION_COUNT) == (3, len(ACTIONS))
    assert step.rewards.shape == (3, 4)
    with pytest.raises(BadSwitch):
        TorresGames(2, "chess")


def test_copies_go_on_alone_from_the_same_games() -> None:
    games = TorresGames(2, switches={"max_buys": 1})
    step = games.reset(seed=2)
    for _ in range(30):
        step = games.step(choose(step, np.random.default_rng(1)))
    before = step.observations.copy()
    ids = step.legal[step.starts[1] : step.starts[2]]
    branches = games.copy([1] * len(ids))

    assert np.array_equal(branches.observe().observations, before[[1] * len(ids)])
    after = branches.step(ids)
    assert branches.rules == games.rules
    assert len({row.tobytes() for row in after.observations}) > 1
    assert np.array_equal(games.observe().observations, before)
    for row in (0, len(ids) - 1):
        alone = games.copy([1])
        played = alone.step(ids[[row]])
        assert np.array_equal(played.observations[0], after.observations[row])
        assert np.array_equal(played.masks[0], after.masks[row])
    with pytest.raises(IndexError):
        games.copy([2])


def test_games_go_on_from_positions_that_a_bot_has_guessed() -> None:
    rules = engine.resolve("yucata", 3)
    position = kernel.start(rules, engine.derive(rules, "1"))
    games = TorresGames([position, position], "yucata", 3, reward="margin")
    step = games.observe()

    assert step.seats.tolist() == [position.seat] * 2
    games.step(step.legal[step.starts[:-1]])
    assert position.legal()[0] == ACTIONS[step.legal[0]]
    with pytest.raises(ValueError, match="use positions of 2 seats"):
        TorresGames([position], "yucata", 2)
    position.playout(1)
    for wrong in (position, None, "a position", 1):
        with pytest.raises(ValueError, match="of 3 seats that are not over"):
            TorresGames([wrong], "yucata", 3)
    with pytest.raises(ValueError, match="games is 0"):
        TorresGames([])


def test_a_wrong_switch_is_refused() -> None:
    with pytest.raises(BadSwitch, match="colour"):
        TorresGames(1, switches={"colour": 1})
