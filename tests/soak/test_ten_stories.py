"""Ten stories that are requested at once come in the order and time that was predicted.

The service is loaded: four slots play on as many processors as there are. It predicts
from measured times, so a few stories are computed before.
"""

import threading
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.ops.running import environment, running_service, token_of

pytestmark = pytest.mark.sandbox
MEASURED = 4
REQUESTED = 10
POLL_S = 0.5
LONGEST_S = 1800.0
MOST_WRONG = 0.5


def client_of(address: str, home: dict[str, str]) -> httpx.Client:
    token = token_of(home, "ana")
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=f"{address}/api/v1", headers=headers, timeout=60)


def finished_games(client: httpx.Client, count: int) -> list[int]:
    """Wait for this many finished games; return the identifiers of the newest."""
    while True:
        listed = client.get("/games/?status=finished&limit=50").json()["results"]
        if len(listed) >= count:
            return [game["id"] for game in listed[:count]]
        threading.Event().wait(POLL_S)


def requested(client: httpx.Client, game: int) -> dict:
    answer = client.post(f"/games/{game}/analyses/", json={})
    assert answer.status_code in {201, 202}, answer.text
    return answer.json()


def seconds_to_end(client: httpx.Client, rows: list[dict]) -> list[tuple[int, float]]:
    """Return each analysis with the seconds until its end, the first to end first."""
    begun = time.monotonic()
    ended: list[tuple[int, float]] = []
    open_rows = [row["id"] for row in rows]
    while open_rows:
        passed_s = time.monotonic() - begun
        assert passed_s < LONGEST_S
        for pk in list(open_rows):
            row = client.get(f"/analyses/{pk}/").json()
            assert row["status"] != "failed", row
            if row["status"] == "finished":
                open_rows.remove(pk)
                ended.append((pk, passed_s))
        threading.Event().wait(POLL_S)
    return ended


def test_ten_stories_come_in_the_order_and_time_that_was_predicted(
    tmp_path: Path,
) -> None:
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)  # bots read copies in it
    # The service would also compute stories by itself between these.
    home = environment(tmp_path, TORRES_STORY_SHARE="0")
    with (
        running_service(home, "--slots", "4") as (address, _),
        closing(client_of(address, home)) as client,
    ):
        games = finished_games(client, MEASURED + REQUESTED)
        seconds_to_end(client, [requested(client, pk) for pk in games[:MEASURED]])

        rows = [requested(client, pk) for pk in games[MEASURED:]]
        expected = {
            row["id"]: client.get(f"/analyses/{row['id']}/").json()["expected_s"]
            for row in rows
        }
        ended = seconds_to_end(client, rows)

    wrong = [took / expected[pk] - 1 for pk, took in ended]
    print(f"\nexpected {list(expected.values())} s")
    print(f"took {[round(took) for _, took in ended]} s")
    print(f"at most {max(map(abs, wrong)):.0%} longer or shorter than expected")
    assert [pk for pk, _ in ended] == [row["id"] for row in rows]
    assert max(map(abs, wrong)) <= MOST_WRONG
