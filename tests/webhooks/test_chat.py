"""Webhooks that send messages to a channel of Discord."""

import pytest
from django.db import transaction

from ladder.events import outbox
from ladder.events.kinds import EventKind
from ladder.events.outbox import NewEvent
from tests.webhooks.factories import SITE, MovedClock, receiver, sender, webhook

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("loopback"),
]
SEATS = [
    {"seat": 0, "bot": "ana-bot", "rank": 1, "score": 212},
    {"seat": 1, "bot": "house-greedy", "rank": 2, "score": 190},
]


def happen(kind: EventKind, **data: object) -> None:
    with transaction.atomic():
        outbox.record(NewEvent(kind, data))


def test_a_message_says_what_happened_and_where(clock: MovedClock) -> None:
    with receiver() as there, sender(clock) as sending:
        webhook(there.url, receiver="discord")
        happen(EventKind.GAME_FINISHED, seats=SEATS, url="/api/v1/games/812/")
        sending.drain()

    (message,) = there.got
    assert message.content == {
        "content": r"ana-bot \(212\) won against house-greedy \(190\)."
        f"\n{SITE}games/812/",
        "allowed_mentions": {"parse": []},
    }


def test_a_name_cannot_mention_or_format(clock: MovedClock) -> None:
    name = "@everyone [free](https://evil.test)\n# **big** ||x|| `y`"
    with receiver() as there, sender(clock) as sending:
        webhook(there.url, receiver="discord")
        happen(EventKind.TOURNAMENT_STARTED, name=name, url="/api/v1/tournaments/c/")
        sending.drain()

    text, link = there.got[0].content["content"].splitlines()
    assert link == f"{SITE}tournaments/c/"
    assert text == (
        r"\@everyone \[free\]\(https\://evil.test\) \# \*\*big\*\* \|\|x\|\| \`y\`"
        " has started."
    )


def test_a_damaged_event_stops_no_other(clock: MovedClock) -> None:
    with receiver() as there, sender(clock) as sending:
        hook = webhook(there.url, receiver="discord")
        happen(EventKind.SEASON_FROZEN, url="/api/v1/ladders/main/leaderboard/")
        happen(EventKind.TOURNAMENT_PAUSED, name="Cup", url="/api/v1/tournaments/c/")
        sending.drain()

    assert [m.content["content"].split("\n")[0] for m in there.got] == [
        "Cup is paused."
    ]
    waiting = hook.deliveries.exclude(status="delivered").get()
    assert waiting.error == "KeyError"


def test_events_stay_the_default(clock: MovedClock) -> None:
    with receiver() as there, sender(clock) as sending:
        webhook(there.url)
        happen(EventKind.TOURNAMENT_PAUSED, name="Cup", url="/api/v1/tournaments/c/")
        sending.drain()

    assert there.got[0].content["type"] == "tournament.paused"
