"""The filters of the list of matches over REST."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from ladder.games.models import Match
from ladder.tournaments import services
from ladder.tournaments.models import Tournament
from tests.factories import LIMITS, make_bot, make_match
from tests.games.factories import bot
from tests.tournaments.factories import tick, tournament

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
MATCHES = "/api/v1/matches/"


def at(day: int) -> datetime:
    return datetime(2026, 11, day, 12, tzinfo=UTC)


@pytest.fixture
def matches(data_dir: object) -> dict[str, Match]:
    """Five matches, made on the first five days of a month."""
    one, two, three = make_bot("one"), make_bot("two"), make_bot("three", "ben")
    named = {
        "plain": make_match(one, two),
        "half": make_match(one, three, games=2),
        "waiting": make_match(two, three, finished=0),
        "large": make_match(one, two, three),
        "other": make_match(one, two),
    }
    changes = {
        "half": {"ladder": "main"},
        "large": {"kind": "challenge"},
        "other": {"ruleset": "yucata-open-hand"},
    }
    for day, (name, match) in enumerate(named.items(), start=1):
        rows = Match.objects.filter(pk=match.pk)
        rows.update(created_at=at(day), **changes.get(name, {}))
    return named


def found(client: APIClient, matches: dict[str, Match], query: str) -> list[str]:
    answer = client.get(f"{MATCHES}?{query}")
    assert answer.status_code == 200, answer.content
    names = {match.pk: name for name, match in matches.items()}
    return [names[row["id"]] for row in answer.json()["results"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", "other large waiting half plain"),
        ("bot=three", "large waiting half"),
        ("ladder=main", "half"),
        ("kind=challenge", "large"),
        ("ruleset=yucata-open-hand", "other"),
        ("seats=3", "large"),
        ("seats=2&bot=one", "other half plain"),
        ("state=open", "waiting half"),
        ("state=over", "other large plain"),
        ("state=open&bot=one", "half"),
        ("from=2026-11-03", "other large waiting"),
        ("to=2026-11-03", "half plain"),
        ("from=2026-11-02T12:00:00Z&to=2026-11-03T12:00:00Z", "half"),
        ("from=2026-11-02&bot=two&state=over", "other large"),
    ],
)
def test_matches_are_found(
    anybody: APIClient, matches: dict[str, Match], query: str, expected: str
) -> None:
    assert found(anybody, matches, query) == expected.split()


@pytest.mark.parametrize(
    ("query", "field", "detail"),
    [
        ("bot=nobody", "bot", "There is no bot 'nobody'."),
        ("tournament=odd", "tournament", "There is no tournament 'odd'."),
        ("tournament=draft", "tournament", "There is no tournament 'draft'."),
        ("ruleset=odd", "ruleset", "'odd' is not known. Use one of: "),
        ("seats=5", "seats", "'5' is not known. Use one of: 2, 3, 4."),
        ("state=odd", "state", "'odd' is not known. Use one of: open, over."),
        ("from=yesterday", "from", "Use a date or a time in UTC"),
        ("from_=2026-11-01", "from_", "Unknown parameter."),
    ],
)
def test_a_wrong_value_is_named(
    anybody: APIClient, query: str, field: str, detail: str
) -> None:
    Tournament.objects.create(slug="draft", name="Draft", limits=LIMITS)
    answer = anybody.get(f"{MATCHES}?{query}")

    assert answer.status_code == 400
    (error,) = answer.json()["errors"]
    assert error["field"] == field
    assert error["detail"].startswith(detail)


@pytest.mark.parametrize("held_back", [False, True])
def test_the_matches_of_a_tournament(
    anybody: APIClient, matches: dict[str, Match], *, held_back: bool
) -> None:
    cup = tournament({"format": "round_robin"}, held_back=held_back)
    for number in range(4):
        services.enter(cup, bot(f"entrant-{number}", f"owner-{number}"))
    services.start(cup)
    tick(slots=8)
    its = set(cup.fixtures.exclude(match=None).values_list("match", flat=True))
    assert its
    rows = anybody.get(f"{MATCHES}?tournament={cup.slug}").json()["results"]

    assert {row["id"] for row in rows} == (set() if held_back else its)


@pytest.mark.parametrize("query", ["", "bot=one&state=over", "from=2026-10-01&bot=one"])
def test_pages_of_any_depth_need_as_many_queries(
    anybody: APIClient, matches: dict[str, Match], query: str
) -> None:
    one, two = (make_bot(name) for name in ("four", "five"))
    Match.objects.filter(pk=matches["other"].pk).update(created_at=at(4))  # as another
    for number in range(8):
        match = make_match(
            matches["plain"].games.get().seats.get(number=0).submission, one
        )
        moment = at(10) + timedelta(days=number // 2)
        Match.objects.filter(pk=match.pk).update(created_at=moment)
        make_match(one, two)
    address = f"{MATCHES}?limit=2&{query}"
    seen, counts = [], []
    while address:
        with CaptureQueriesContext(connection) as queries:
            page = anybody.get(address).json()
        counts.append(len(queries))
        seen += [row["id"] for row in page["results"]]
        address = page["next"]
    whole = anybody.get(f"{MATCHES}?limit=200&{query}").json()["results"]

    assert seen == [row["id"] for row in whole]
    assert len(set(seen)) == len(seen) > 8
    assert len(set(counts[:-1])) == 1
    assert counts[-1] <= counts[0]
