"""Events in words. `test_publishers.py` does the same with events of all changes."""

import pytest

from ladder.events import texts
from ladder.events.kinds import EventKind


@pytest.mark.parametrize(
    ("seats", "words"),
    [
        ([("ana", 1, 212), ("ben", 2, 190)], "ana (212) won against ben (190)."),
        ([("ana", 2, 190), ("ben", 1, 212)], "ben (212) won against ana (190)."),
        ([("ana", 1, 190), ("ben", 1, 190)], "ana (190) and ben (190) tied."),
        (
            [("a", 1, 9), ("b", 3, 7), ("c", 1, 9)],
            "a (9) and c (9) tied, ahead of b (7).",
        ),
    ],
)
def test_a_result_names_the_winner_first(
    seats: list[tuple[str, int, int]], words: str
) -> None:
    rows = [{"bot": bot, "rank": rank, "score": score} for bot, rank, score in seats]

    assert texts.sentence(EventKind.GAME_FINISHED, {"seats": rows}) == words


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("/api/v1/games/812/", "/games/812/"),
        ("/api/v1/ladders/main/leaderboard/", "/ladders/main/"),
        ("/api/v1/submissions/31/", "/submissions/31/"),
        ("/api/v1/webhooks/3/", "/me/webhooks/"),
        ("", "/"),
    ],
)
def test_the_page_of_an_event_is_that_of_its_resource(url: str, page: str) -> None:
    assert texts.page_of({"url": url}) == page


def test_a_name_is_no_template() -> None:
    data = {"name": "{tournament.__class__}", "tournament": "cup"}

    told = texts.sentence(EventKind.TOURNAMENT_STARTED, data)

    assert told == "{tournament.__class__} has started."
