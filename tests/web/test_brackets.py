"""The layout of brackets: which contests are joined, and the way of the winner."""

from dataclasses import replace

import pytest

from ladder.tournaments.visibility import VisibleContest
from ladder.web.pages.brackets import BracketContest, BracketPart, Join, bracket, is_won


def contest(
    round_: int,
    pool: str,
    table: int,
    slots: list[str | None],
    winner: str | None = None,
    why: str = "",
) -> VisibleContest:
    wins = [float(winner is not None and slot == winner) for slot in slots]
    return VisibleContest(round_, pool, table, slots, winner, wins, why)


def single(champion: str | None) -> list[VisibleContest]:
    return [
        contest(1, "main", 1, ["ana", "dag"], "ana"),
        contest(1, "main", 2, ["cleo", "ben"], "ben"),
        contest(2, "main", 1, ["ana", "ben"], champion),
    ]


def double(reset: str | None) -> list[VisibleContest]:
    """Ben loses to Ana, comes back, and wins the first grand final."""
    return [
        contest(1, "main", 1, ["ana", "dag"], "ana"),
        contest(1, "main", 2, ["cleo", "ben"], "ben"),
        contest(2, "main", 1, ["ana", "ben"], "ana"),
        contest(2, "losers", 1, ["dag", "cleo"], "cleo"),
        contest(3, "losers", 1, ["cleo", "ben"], "ben"),
        contest(4, "final", 1, ["ana", "ben"], "ben"),
        contest(5, "final", 1, ["ana", "ben"], reset),
    ]


def on(parts: list[BracketPart], field: str) -> set[tuple[str, int, int]]:
    """Return part, round and table of the contests for which a field is true."""
    return {
        (part.name, column.round, each.table)
        for part in parts
        for column in part.rounds
        for each in column.contests
        if getattr(each, field)
    }


def test_the_way_of_the_winner_goes_through_all_its_contests() -> None:
    parts = bracket(single("ben"), {"ben": "Ben"})

    assert [part.title for part in parts] == ["Bracket"]
    assert [column.join for column in parts[0].rounds] == [Join.PAIR, Join.NONE]
    assert on(parts, "on_path") == {("main", 1, 2), ("main", 2, 1)}
    assert on(parts, "from_path") == {("main", 2, 1)}
    assert is_won(parts)
    final: BracketContest = parts[0].rounds[1].contests[0]
    assert [(slot.name, slot.won) for slot in final.slots] == [
        ("ana", False),
        ("Ben", True),
    ]


def test_without_a_winner_no_way_is_marked() -> None:
    parts = bracket(single(None), {})

    assert not is_won(parts)
    assert on(parts, "from_path") == set()
    assert on(parts, "is_decided") == {("main", 1, 1), ("main", 1, 2)}


def test_the_winner_of_a_double_elimination_can_come_through_the_losers() -> None:
    parts = bracket(double("ben"), {})

    assert [part.name for part in parts] == ["main", "losers", "final"]
    joins = [[column.join for column in part.rounds] for part in parts]
    assert joins == [
        [Join.PAIR, Join.NONE],
        [Join.STRAIGHT, Join.NONE],
        [Join.STRAIGHT, Join.NONE],
    ]
    won = {("main", 1, 2), ("losers", 3, 1), ("final", 4, 1), ("final", 5, 1)}
    assert on(parts, "on_path") == won
    came = {("main", 2, 1), ("final", 4, 1), ("final", 5, 1)}
    assert on(parts, "from_path") == came


@pytest.mark.parametrize("revealed", range(5))
def test_a_bracket_that_is_shown_in_part_has_no_winner(revealed: int) -> None:
    """Neither the winner of the main bracket nor of a final with a reset has won."""
    contests = [
        each if each.round <= revealed else replace(each, winner=None)
        for each in double("ben")
        if each.round <= revealed + 1
    ]

    assert not is_won(bracket(contests, {}))


def test_a_contest_of_nobody_is_empty() -> None:
    contests = [
        contest(1, "main", 1, ["ana", None], "ana", "no opponent"),
        contest(2, "losers", 1, [None, None], None, "no opponent"),
        contest(3, "losers", 1, [None, "ben"]),
    ]
    parts = bracket(contests, {})

    assert on(parts, "is_empty") == {("losers", 2, 1)}
    names = [slot.name for slot in parts[0].rounds[0].contests[0].slots]
    assert names == ["ana", "bye"]
