"""A service with a season, and a way to audit it over HTTP."""

from pathlib import Path

import pytest
from django.db import transaction
from django.db.models import QuerySet

from ladder.bots.facts import record_upload
from ladder.dispatch.log_keeper import LogKeeper
from ladder.events.models import Fact
from ladder.games.models import Game, Match
from ladder.games.worker.play import play
from ladder.ratings import rater
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.models import Season
from ladder.ratings.views import leaderboards
from tests.games import factories as games
from torres.auditing import auditor
from torres.auditing.auditor import AuditReport, Trust, audit
from torres.auditing.findings import Check
from torres.cli.audit import RemoteService
from torres.cli.client import LadderClient, Login
from torres.tlog.leaves import LeafKind


def waiting(kind: LeafKind) -> QuerySet[Fact]:
    """Return the facts whose leaf of this kind has no number yet."""
    return Fact.objects.filter(leaf_kind=kind, number=None).order_by("pk")


def audit_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let audits wait for nothing: in these tests the log is always up to date."""
    monkeypatch.setattr(auditor, "COPIES", 1)
    monkeypatch.setattr(leaderboards, "LEADERBOARD_TTL_S", 0)


class AuditedLadder:
    """A service with a season, and a way to audit it over HTTP."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.season = ensure_default_ladder().seasons.get()
        self.keeper = LogKeeper()
        self.minute = 0
        self.trust = Trust()
        for bot in games.bots(5):
            with transaction.atomic():
                record_upload(games.newest(bot))
        rater.welcome(self.season.pk)
        self.advance()

    def advance(self) -> None:
        """Bring the log up to date; each call is a minute after the last one."""
        self.minute += 1
        self.keeper.advance(60.0 * self.minute)

    def plan(self) -> Match:
        """Let the matchmaker plan one match."""
        self.season = Season.objects.select_related("ladder").get(pk=self.season.pk)
        assert MatchmakingSession().pair(self.season, 1)
        return Match.objects.latest("pk")

    def play(self, match: Match | None = None, *, fold: bool = True) -> Game:
        """Plan, deal and play a game, and rate it."""
        match = match or self.plan()
        self.advance()
        game = match.games.get(status="scheduled")
        play(game.pk, games.worker())
        if fold:
            self.fold()
        return Game.objects.get(pk=game.pk)

    def fold(self) -> None:
        while rater.fold(self.season.pk):
            pass
        self.advance()

    def audit(
        self, trust: Trust | None = None, *, matchmaking: bool = False
    ) -> AuditReport:
        with LadderClient(Login(self.url, "")) as client:
            return audit(
                self.folder,
                client.log_file,
                RemoteService(client),
                lambda *_: None,
                trust or self.trust,
                matchmaking=matchmaking,
            )

    def found(self) -> set[Check]:
        return {finding.check for finding in self.audit().findings}
