"""An operator may sign anything: the audit reads leaves with one malformed field."""

import json
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from ladder.games.models import Game
from ladder.ratings import voids
from tests.public_log.audited import AuditedLadder, audit_at_once
from tests.public_log.test_malformed_answers import VALUES, changed, places
from torres.auditing.games import check_replay
from torres.auditing.hand import operators_hand
from torres.auditing.logged import Story
from torres.auditing.mirror import LogCopy
from torres.auditing.public_view import (
    PublicView,
    compare_games,
    compare_leaderboards,
    compare_names,
    withheld_replays,
)
from torres.auditing.ratings import RatingsAudit
from torres.auditing.story import StoryReader
from torres.auditing.tournaments import ReadStandings, compare_standings
from torres.cli.audit import RemoteService
from torres.cli.client import LadderClient, Login
from torres.tlog.checkpoints import TreeHead
from torres.tlog.tiles import BUNDLES, tile_path, unpack_bundle

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
]
NUMBERS = [0, 1, 7, 2**53, "-0.5", "9999", "0" * 64, [1, 2, 3, 4]]
"""Values of the declared types that fit nothing else in the log."""
SAMPLE = 1_500


@pytest.fixture
def ladder(
    live_server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AuditedLadder:
    audit_at_once(monkeypatch)
    ladder = AuditedLadder(live_server.url, tmp_path / "audit")
    for _ in range(3):
        ladder.play()
    voids.void(Game.objects.earliest("pk").pk, "the worker was broken")
    ladder.advance()
    return ladder


def test_malformed_leaves_are_findings(ladder: AuditedLadder) -> None:
    head = ladder.audit().head
    with LadderClient(Login(ladder.url, "")) as client:
        leaves = unpack_bundle(client.log_file(tile_path(BUNDLES, 0, head.size)))
        service = RemoteService(client)
        games = {game["id"]: game for game in service.games()}
        bots = {bot["id"]: bot for bot in service.bots()}
        standings = ReadStandings(head.size, list(service.tournaments()))
        boards = list(service.leaderboards())
        view = PublicView(head.size, boards, games, bots, standings)
        replays = dict(service.replays())
    assert not found(head, leaves, view, replays)
    malformed = [
        (number, json.dumps(changed(document, path, value)).encode())
        for number, document in enumerate(map(json.loads, leaves))
        for path in places(document)
        for value in [*VALUES, *NUMBERS]
    ]
    for number, leaf in random.Random(1).sample(malformed, SAMPLE):
        found(head, [*leaves[:number], leaf, *leaves[number + 1 :]], view, replays)


def found(
    head: TreeHead, leaves: list[bytes], view: PublicView, replays: dict[int, dict]
) -> list[object]:
    """Return what an audit finds in a log with these leaves, whatever its signature."""
    copy = LogCopy.build(head, leaves)
    story: Story = StoryReader(copy, datetime.now(UTC)).read()
    ratings = RatingsAudit(story, view.heads(), view.forfeits())
    view.is_in(story)
    return [
        *story.findings,
        *ratings.check(),
        *compare_games(view, ratings),
        *compare_leaderboards(view, ratings),
        *compare_names(view, ratings),
        *operators_hand(ratings, {}, {}).findings(),
        *compare_standings(view.standings, story),
        *withheld_replays(story, view, set(replays)),
        *(
            finding
            for number, replay in replays.items()
            if number in story.games
            for finding in check_replay(story, number, replay)
        ),
    ]
