"""A bot as a player: it answers, its time is measured, and it exits."""

from tests.runner.factories import HELLO, ask


def test_a_bot_answers_and_exits(sandbox, bot) -> None:
    player = bot("first.py", sandbox)

    player.start(HELLO)
    answers = [player.decide(ask()) for _ in range(3)]
    player.end([1, 0], [1, 2], "completed")

    assert [answer.index for answer in answers] == [0, 0, 0]
    assert all(0 < answer.ms < 4_000 for answer in answers)
    assert player.verdict is None
