"""Ten people play by hand and 300 watch, 300 watch TV, or 1,000 guests come at once.

They come beside four busy slots. Of those who watch, half follow the board of the home
page, the others all events. Torres TV also asks for its page again every 30 s.

Windows with and without these people alternate in one run of the service, so that both
kinds see the same ladder. A game counts if it was played within one window. Its time is
divided by the median of the games of the same bots in the windows without people.
"""

import asyncio
import os
import sqlite3
import statistics
import threading
import time
from collections import defaultdict
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.ops.running import environment, running_service, token_of
from tests.practice.test_practice_up import begin, sign_in
from tests.soak.crowds import AT_HOME, AT_TV, GUESTS_AT_ONCE, Company, Crowd

WINDOWS = 5  # of each kind
WINDOW_S = float(os.environ.get("TESTS_SPECTATOR_WINDOW_S", "60"))
WARM_UP_S = 20.0
UNIX_S = "(julianday({}) - 2440587.5) * 86400"
GAMES = f"""
    SELECT {UNIX_S.format("a.started_at")}, {UNIX_S.format("a.ended_at")},
           group_concat(b.slug, ' ')
    FROM games_attempt a
    JOIN games_seat s ON s.game_id = a.game_id
    JOIN bots_submission u ON u.id = s.submission_id
    JOIN bots_bot b ON b.id = u.bot_id
    WHERE a.outcome = 'finished' GROUP BY a.id
"""


def seat_people(
    stack: ExitStack, home: dict[str, str], address: str, people: int
) -> list:
    """Let people sit down; return the address and the cookies of each."""
    seated = []
    for number in range(people):
        token = token_of(home, f"person-{number}")
        client = stack.enter_context(closing(sign_in(address, token)))
        cookie = "; ".join(f"{key}={value}" for key, value in client.cookies.items())
        seated.append((begin(client), cookie))
    return seated


def played(folder: Path) -> list[tuple[float, float, str]]:
    """Return the start, the end and the bots of each finished game."""
    with closing(sqlite3.connect(folder / "data" / "ladder.db", timeout=30)) as session:
        return [
            (start, end, " ".join(sorted(bots.split())))
            for start, end, bots in session.execute(GAMES)
        ]


def within(games: list, windows: list[tuple[float, float]]) -> dict[str, list[float]]:
    """Return the times of the games that lie in one of the windows, by bots."""
    found = defaultdict(list)
    for start, end, bots in games:
        if any(begin <= start and end <= finish for begin, finish in windows):
            found[bots].append(end - start)
    return found


def compare(games: list, quiet: list, busy: list) -> dict[str, list[float]]:
    """Return the times of games in both kinds of windows, by the usual ones."""
    alone, beside = within(games, quiet), within(games, busy)
    usual = {bots: statistics.median(times) for bots, times in alone.items()}
    return {
        name: sorted(t / usual[bots] for bots in usual for t in group.get(bots, []))
        for name, group in (("alone", alone), ("beside", beside))
    }


@pytest.mark.sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="level full needs root here")
@pytest.mark.parametrize(
    "company", [AT_HOME, AT_TV, GUESTS_AT_ONCE], ids=["home", "tv", "guests"]
)
def test_people_do_not_slow_the_games_of_the_ladder(
    tmp_path: Path, company: Company
) -> None:
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)  # bots read copies in it
    home = environment(tmp_path, TORRES_PRACTICE_SLOTS=str(company.people or 10))
    home |= {"TORRES_RATE_PAGES": "1000000", "TORRES_RATE_ANONYMOUS": "1000000"}
    home |= {"TORRES_PROXIES": "1"} if company.guests else {}
    quiet: list[tuple[float, float]] = []
    busy: list[tuple[float, float]] = []
    with (
        ExitStack() as stack,
        running_service(home, "--slots", "4") as (address, _),
    ):
        people = seat_people(stack, home, address, company.people)
        crowd = Crowd(address, company)
        pause = threading.Event()
        pause.wait(WARM_UP_S)
        for _ in range(WINDOWS):
            begun = time.time()
            pause.wait(WINDOW_S)
            quiet.append((begun, time.time()))
            busy.append(asyncio.run(crowd.be_there(people, WINDOW_S)))
        games = played(tmp_path)

    ratios = compare(games, quiet, busy)
    responses = statistics.quantiles(crowd.seconds, n=100)
    print(
        f"\ngames: { {name: len(each) for name, each in ratios.items()} };"
        f" messages {dict(crowd.messages)}; responses {dict(crowd.statuses)},"
        f" {crowd.answers} answers by hand,"
        f" {crowd.broken} connections closed by the server;"
        f" median {responses[49] * 1000:.0f} ms, 99 % {responses[98] * 1000:.0f} ms"
    )
    for figure in company.figures:
        alone, beside = (figure(ratios[name]) for name in ("alone", "beside"))
        print(f"{figure.__name__}: {beside / alone:.3f} times as long")
        assert beside <= company.max_slower * alone
    crowd.check(WINDOWS)
