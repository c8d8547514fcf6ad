"""The check finds every kind of damage, in one pass, and can be continued."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from ladder.games import services as games
from ladder.games.models import Game
from ladder.ratings import coverage, rater, rebuild
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Entry, Pairing, Season
from tests.games import factories
from tests.ratings.factories import (
    Killed,
    finish_in_order,
    make_matches,
    open_games,
    play_some,
    rated_games,
)
from torres.rating import verification
from torres.rating.ledger import EntryKind, LedgerLine, LedgerState, changes, fold
from torres.rating.verification import Verification, VoidGroup

pytestmark = pytest.mark.django_db


@pytest.fixture
def season(monkeypatch) -> Season:
    monkeypatch.setattr(rebuild, "PATIENCE_S", 0)
    season = ensure_default_ladder().seasons.get()
    factories.bots(5)
    rater.welcome(season.pk)
    play_some(season, 4)
    return season


def complaints(season: Season) -> str:
    return "\n".join(rebuild.check(season).complaints)


def void_and_fold(season: Season, *games_to_void: int) -> None:
    for game in games_to_void:
        games.void(game, "a test", replay_again=False)
    rater.fold(season.pk)


def test_a_finished_game_that_was_never_rated_fails_the_check(season):
    """`--check` looked at entries only, and exited with 0."""
    make_matches(season, 1)
    game = open_games()[0]
    finish_in_order(game)
    Pairing.objects.update(open=False)  # so that the rater does not find it
    assert rater.fold(season.pk) == 0
    out = StringIO()

    with pytest.raises(CommandError):
        call_command("rebuild_ratings", "--check", stderr=out)
    assert f"1 games are finished, but never rated ({game.pk})" in out.getvalue()

    call_command("rebuild_ratings", stdout=StringIO())  # as the message advises
    assert rater.fold(season.pk) == 1
    assert complaints(season) == ""


def test_a_voided_game_that_still_counts_fails_the_check(season):
    games.void(rated_games(season)[3], "a test", replay_again=False)

    assert "voided, but still counted" in complaints(season)
    assert "fold_voids" in complaints(season)
    rater.fold(season.pk)
    assert complaints(season) == ""


def test_what_the_rater_does_during_the_check_is_no_complaint(season, monkeypatch):
    monkeypatch.setattr(rebuild, "PATIENCE_S", 60)
    make_matches(season, 1)
    finish_in_order(open_games()[0])
    waits = []

    def rate_meanwhile(seconds: float) -> None:
        waits.append(seconds)
        rater.fold(season.pk)

    monkeypatch.setattr(coverage, "pause", rate_meanwhile)
    assert complaints(season) == ""
    assert waits


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        ("dead", "rated, but without a result"),
        ("finished", "taken out of the ratings, but not voided"),
    ],
)
def test_a_game_that_was_changed_by_hand_fails_the_check(season, status, problem):
    game = rated_games(season)[1]
    void_and_fold(season, game)
    Game.objects.filter(pk=game).update(status=status)

    assert problem in complaints(season)


def test_an_entry_of_another_season_fails_the_check(season):
    Pairing.objects.filter(match__games=rated_games(season)[0]).delete()

    assert "to which they do not belong" in complaints(season)


@pytest.mark.parametrize("field", ["before", "after"])
def test_wrong_changes_of_a_correction_are_found(season, field):
    """Each correction is computed again, although the ledger is read only once."""
    first, second, third, *_ = rated_games(season)
    void_and_fold(season, second, third)
    play_some(season, 1)
    void_and_fold(season, first)
    assert complaints(season) == ""
    entry = Entry.objects.filter(kind="void").order_by("seq")[1]
    entry.changes[0][field][0] += 1e-9
    entry.save()

    assert f"entry {entry.seq}: the stored changes" in complaints(season)


def test_with_many_voids_the_check_folds_twice_and_still_proves_the_end(
    season, monkeypatch
):
    """It folded the whole season again for each void: days, after a sick worker."""
    monkeypatch.setattr(verification, "MAX_TRACKS", 1)
    for game in rated_games(season)[::-3]:
        void_and_fold(season, game)
        play_some(season, 1)
    rates = []
    rate = verification.ledger.rate

    def counted(*arguments):
        rates.append(1)
        return rate(*arguments)

    monkeypatch.setattr(verification.ledger, "rate", counted)
    report = rebuild.check(season)

    assert report.complaints == []
    assert report.unverified == Entry.objects.filter(kind="void").count() - 1
    assert len(rates) <= 2 * Entry.objects.filter(kind="game").count()
    last = Entry.objects.filter(kind="void").order_by("-seq").first()
    last.changes[0]["after"][0] += 1e-9
    last.save()
    assert f"entry {last.seq}" in complaints(season)


def test_overlapping_corrections_equal_folds_from_nothing():
    """Each track must leave out exactly the games that are voided up to its end."""

    def line(seq, kind, inputs, game=None):
        return LedgerLine(seq, EntryKind(kind), inputs, game)

    def game(seq):
        seats = [
            {"bot": 1 + (seq + k) % 4, "submission": 1, "rank": k + 1, "fault": ""}
            for k in range(2)
        ]
        return line(seq, "game", {"seats": seats}, seq)

    joins = [
        line(k, "join", {"bot": k, "submission": 1, "digest": ""}) for k in range(1, 5)
    ]
    voids = {12: 6, 15: 5, 18: 14, 20: 7, 22: 19}
    lines = joins + [
        line(seq, "void", {"corrected_by": seq}, voids[seq])
        if seq in voids
        else game(seq)
        for seq in range(5, 25)
    ]
    groups = [VoidGroup(s, g, frozenset([g])) for s, g in sorted(voids.items())]
    verified = Verification(groups, 24)
    before = LedgerState()
    for n, entry in enumerate(lines, start=1):
        voided = {voids[s] for s in voids if s <= entry.seq}
        after = fold(lines[:n], voided)
        verified.add(entry, changes(before, after))
        before = after

    assert verified.complaints == []
    assert verified.unverified == 0
    assert verified.state == before


def test_a_check_continues_where_it_stopped(season, tmp_path, monkeypatch):
    void_and_fold(season, rated_games(season)[-1])
    play_some(season, 2)
    progress = tmp_path / "progress.json"
    add = Verification.add

    def dies(self, line, stored):
        if line.seq == 20:
            rebuild._save(self, season, progress)  # as it does each few seconds
            raise Killed
        add(self, line, stored)

    monkeypatch.setattr(Verification, "add", dies)
    with pytest.raises(Killed):
        rebuild.check(season, progress_file=progress)

    read = []

    def noted(self, line, stored):
        read.append(line.seq)
        add(self, line, stored)

    monkeypatch.setattr(Verification, "add", noted)
    out = StringIO()
    call_command("rebuild_ratings", "--check", "--from", str(progress), stdout=out)
    assert read[0] == 20
    assert "all ratings the same" in out.getvalue()

    read.clear()  # a game before the progress is voided: what was checked is no use
    void_and_fold(season, rated_games(season)[0])
    assert rebuild.check(season, progress_file=progress).complaints == []
    assert read[0] == 1


def test_a_progress_file_that_is_damaged_is_explained(season, tmp_path):
    progress = tmp_path / "progress.json"
    progress.write_text("{")
    with pytest.raises(CommandError, match="delete this one"):
        call_command("rebuild_ratings", "--check", "--from", str(progress))
    progress.write_text(json.dumps({str(season.pk): {"seq": 1}}))
    with pytest.raises(CommandError, match="cannot be used"):
        call_command("rebuild_ratings", "--check", "--from", str(progress))
    with pytest.raises(CommandError, match="belongs to --check"):
        call_command("rebuild_ratings", "--from", str(progress))
