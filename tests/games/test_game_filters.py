"""The filters and orders of the list of games over REST."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import DjangoDbBlocker
from rest_framework.test import APIClient

from ladder.bots.models import Submission
from ladder.games.models import Game, Match, tied_ranks
from tests.factories import make_bot, make_match, upload
from tests.web.module_rows import module_rows

pytestmark = pytest.mark.django_db
FIRST_DAY = datetime(2026, 11, 1, 12, tzinfo=UTC)


def play(*sitting: Submission, ranks: list[int], day: int, fault: str = "") -> Game:
    """Make a game that finished on a day. The last seat has the fault."""
    game = make_match(*sitting).games.get()
    results = zip(ranks, tied_ranks(ranks), strict=True)
    for seat, (rank, tied) in zip(game.seats.order_by("number"), results, strict=True):
        seat.rank = rank
        seat.tied = tied
        seat.save()
    if fault:
        seat.fault = fault
        seat.save()
    finished = FIRST_DAY + timedelta(days=day - 1)
    Game.objects.filter(pk=game.pk).update(finished_at=finished)
    return game


@pytest.fixture(scope="module")
def rows(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, Game]]:
    with module_rows(django_db_blocker, tmp_path_factory.mktemp("data")):
        yield make_games()


@pytest.fixture
def games(rows: dict[str, Game]) -> dict[str, Game]:
    return dict(rows)


def make_games() -> dict[str, Game]:
    """Six games. Ana has the bots `one` and `two`, Ben has `three`."""
    one, two = make_bot("one", "ana"), make_bot("two", "ana")
    three = make_bot("three", "ben")
    named = {
        "won": play(one, three, ranks=[1, 2], day=1),
        "lost": play(one, three, ranks=[2, 1], day=2),
        "tied": play(one, three, ranks=[1, 1], day=3),
        "forfeited": play(three, one, ranks=[1, 2], day=4, fault="timeout"),
        "inner": play(one, two, ranks=[1, 2], day=5, fault="crash"),
        "large": play(one, two, three, ranks=[2, 2, 1], day=6),
    }
    Match.objects.filter(games=named["large"]).update(ruleset="yucata-open-hand")
    named["open"] = make_match(one, three, finished=0).games.get()
    return named


def found(client: APIClient, games: dict[str, Game], query: str) -> list[str]:
    answer = client.get(f"/api/v1/games/?{query}")
    assert answer.status_code == 200, answer.content
    names = {game.pk: name for name, game in games.items()}
    return [names[row["id"]] for row in answer.json()["results"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", "open large inner forfeited tied lost won"),
        ("bot=one&result=won", "inner won"),
        ("bot=one&result=lost", "large forfeited lost"),
        ("bot=one&result=tied", "tied"),
        ("bot=one&result=forfeited", "forfeited"),
        ("bot=two&result=forfeited", "inner"),
        ("bot=three&result=won", "large forfeited lost"),
        ("bot=one&opponent=three", "open large forfeited tied lost won"),
        ("bot=one&opponent=two", "large inner"),
        ("bot=two&opponent=three&result=lost", "large"),
        ("bot=one&opponent=one", ""),
        ("owner=ana", "open large inner forfeited tied lost won"),
        ("owner=ana&result=won", "inner won"),
        ("owner=ana&result=lost", "large inner forfeited lost"),
        ("owner=ana&opponent=one", "large inner"),
        ("owner=ben&result=tied", "tied"),
        ("owner=ben&bot=one", ""),
        ("forfeit=timeout", "forfeited"),
        ("forfeit=crash", "inner"),
        ("forfeit=memory", ""),
        ("bot=one&forfeit=crash", ""),
        ("bot=two&forfeit=crash", "inner"),
        ("ruleset=yucata-open-hand", "large"),
        ("ruleset=yucata-open-hand&bot=one", "large"),
        ("seats=3", "large"),
        ("seats=2&bot=two", "inner"),
        ("seats=4", ""),
        ("from=2026-11-05", "large inner"),
        ("from=2026-11-05&ordering=id", "inner large"),
        ("owner=ana&opponent=three&result=won", "won"),
        ("owner=ana&opponent=three&seats=3", "large"),
        ("from=2026-11-05T12:00:00Z", "large inner"),
        ("from=2026-11-05T12:00:01Z", "large"),
        ("to=2026-11-03", "lost won"),
        ("from=2026-11-02&to=2026-11-03&bot=one", "lost"),
        ("to=2026-11-02T14:00:00%2B02:00", "won"),
        ("status=finished&bot=three&seats=2", "forfeited tied lost won"),
        ("ordering=id&bot=two", "inner large"),
        ("ordering=-id&bot=two", "large inner"),
        ("ordering=finished", "won lost tied forfeited inner large"),
        ("ordering=-finished&owner=ben", "large forfeited tied lost won"),
    ],
)
def test_games_are_found(
    anybody: APIClient, games: dict[str, Game], query: str, expected: str
) -> None:
    assert found(anybody, games, query) == expected.split()


def test_games_of_one_upload_are_found(
    anybody: APIClient, games: dict[str, Game]
) -> None:
    old = games["won"].seats.get(number=0).submission
    new = upload(old.bot, b"changed")
    games["new"] = play(new, make_bot("four"), ranks=[1, 2], day=7)

    assert found(anybody, games, f"submission={new.pk}") == ["new"]
    assert found(anybody, games, f"submission={old.pk}&result=tied") == ["tied"]
    assert found(anybody, games, f"submission={new.pk}&bot=two") == []


def test_a_game_of_two_versions_of_a_bot_is_listed_once(
    anybody: APIClient, games: dict[str, Game]
) -> None:
    old = games["won"].seats.get(number=0).submission
    new = upload(old.bot, b"changed")
    games["versions"] = play(old, new, ranks=[2, 1], day=7)

    assert found(anybody, games, "bot=one&opponent=one") == ["versions"]
    assert found(anybody, games, "bot=one&from=2026-11-07") == ["versions"]
    assert found(anybody, games, f"submission={new.pk}&result=won") == ["versions"]


@pytest.mark.parametrize(
    ("query", "field", "detail"),
    [
        ("bot=nobody", "bot", "There is no bot 'nobody'."),
        ("bot=%25s", "bot", "There is no bot '%s'."),
        ("status=%25(x)d", "status", "'%(x)d' is not known."),
        ("bot=one&opponent=nobody", "opponent", "There is no bot 'nobody'."),
        ("owner=nobody", "owner", "There is no user 'nobody'."),
        ("submission=999999", "submission", "There is no submission '999999'."),
        ("submission=x", "submission", "There is no submission 'x'."),
        (f"submission={'9' * 30}", "submission", f"There is no submission '{'9' * 30}"),
        ("bot=one&result=drawn", "result", "'drawn' is not known. Use one of: won,"),
        ("forfeit=odd", "forfeit", "'odd' is not known. Use one of: "),
        ("ruleset=odd", "ruleset", "'odd' is not known. Use one of: "),
        ("status=odd", "status", "'odd' is not known. Use one of: scheduled,"),
        ("seats=5", "seats", "'5' is not known. Use one of: 2, 3, 4."),
        ("ordering=rank", "ordering", "'rank' is not known. Use one of: -id, id,"),
        ("from=yesterday", "from", "Use a date or a time in UTC"),
        ("to=0001-01-01T00:00:00%2B14:00", "to", "Use a date or a time in UTC"),
        ("result=won", "result", "Name the side, too"),
        ("opponent=one", "opponent", "Name the side, too"),
        ("bot=a%00b", "bot", "Null characters are not allowed."),
        ("from_=2026-11-01", "from_", "Unknown parameter."),
    ],
)
@pytest.mark.usefixtures("games")
def test_a_wrong_value_is_named(
    anybody: APIClient, query: str, field: str, detail: str
) -> None:
    answer = anybody.get(f"/api/v1/games/?{query}")

    assert answer.status_code == 400
    (error,) = answer.json()["errors"]
    assert error["field"] == field
    assert error["detail"].startswith(detail)


@pytest.mark.parametrize("ordering", ["-id", "id", "finished", "-finished"])
@pytest.mark.parametrize("query", ["", "&owner=ana", "&bot=one&result=lost"])
def test_pages_of_each_order_hold_every_game_once(
    anybody: APIClient, games: dict[str, Game], ordering: str, query: str
) -> None:
    Game.objects.filter(pk=games["tied"].pk).update(
        finished_at=FIRST_DAY + timedelta(days=1)
    )  # at the same moment as another one
    whole = found(anybody, games, f"ordering={ordering}{query}")
    first = f"/api/v1/games/?ordering={ordering}{query}&limit=1"
    page = anybody.get(first).json()
    rows = page["results"]
    while page["next"]:
        page = anybody.get(page["next"]).json()
        rows += page["results"]
    back = []
    while page["previous"]:
        page = anybody.get(page["previous"]).json()
        back += page["results"]

    names = {game.pk: name for name, game in games.items()}
    assert [names[row["id"]] for row in rows] == whole
    assert [row["id"] for row in back] == [row["id"] for row in rows[-2::-1]]


@pytest.mark.parametrize(
    "cursor", ["cD01Nw==", "cD0yMDI2", "cD0wMDAxLTAxLTAxVDAwOjAwOjAwKzE0OjAw", "cD1h"]
)
@pytest.mark.usefixtures("games")
def test_a_cursor_of_another_order_is_refused(anybody: APIClient, cursor: str) -> None:
    answer = anybody.get(f"/api/v1/games/?ordering=finished&cursor={cursor}")

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "cursor"


def test_a_filter_needs_a_fixed_number_of_queries(
    anybody: APIClient, games: dict[str, Game], django_assert_max_num_queries
) -> None:
    with django_assert_max_num_queries(7):
        query = "bot=one&opponent=three&owner=ana&result=lost&limit=2"
        assert found(anybody, games, query) == ["large", "forfeited"]
