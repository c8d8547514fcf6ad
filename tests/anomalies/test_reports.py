"""Reports of anomalies in the service: what they find, show, keep and forget."""

import io
import json
import zipfile
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import storages
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from ladder.bots.house_bots import HOUSE_FOLDER
from ladder.bots.models import Bot, SourceFingerprint
from ladder.bots.retention import forget_package
from ladder.extras.anomalies import fingerprints, season_report, selectors
from ladder.extras.anomalies.explained import as_json
from ladder.extras.anomalies.models import AnomalyReport
from ladder.extras.anomalies.season_reader import read_season
from ladder.extras.anomalies.season_report import KEPT_REPORTS, make_report
from ladder.moderation.audit import Operator
from ladder.moderation.bots import delete_account
from ladder.moderation.models import AuditEntry
from ladder.ratings.models import Season
from tests.anomalies.disguise import ORIGINAL, disguised
from tests.anomalies.factories import (
    add_variants,
    let_collude,
    let_hold_back,
    regular_companions,
    season_of_strangers,
    strangers,
    upload,
)
from tests.games import factories
from tests.web.module_rows import module_rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rows")]


@pytest.fixture(scope="module")
def rows(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    with module_rows(django_db_blocker, tmp_path_factory.mktemp("data")):
        season_of_strangers()
        yield


@pytest.fixture
def season(rows: None) -> Season:
    return Season.objects.get()


def operator() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("olga"))
    return client


def found(season: Season) -> list[dict]:
    return as_json(make_report(season))["findings"]


def test_a_season_without_cheats_is_empty(season):
    report = make_report(season)

    assert report.report["findings"] == []
    tested = report.report["tested"]
    assert tested["games"] == tested["games_played"] > 1000
    assert tested["pairs"] > 20
    assert tested["strength_tests"] > 5
    page = operator().get("/anomalies/").content.decode()
    assert "There is nothing to look at." in page
    assert f"{tested['pairs']} pairs of bots" in page


def test_colluding_bots_are_reported_with_their_games(season):
    one, other = regular_companions(season)[0]
    let_collude(season, one, other)

    (finding,) = found(season)

    slugs = dict(Bot.objects.values_list("pk", "slug"))
    assert finding["kind"] == "collusion"
    assert finding["form"] == "together"
    assert finding["bots"] == [slugs[one], slugs[other]]
    assert finding["chance"] < 1e-4
    assert finding["numbers"]["games"] >= 20
    games = finding["games"]
    assert 0 < len(games) <= season_report.SHOWN_GAMES
    for entry in season.entries.filter(game__in=games):
        best_two = {s["bot"] for s in entry.inputs["seats"] if s["rank"] < 3}
        assert best_two == {one, other}
    assert "operator merge" in " ".join(finding["next_steps"])


def test_a_group_is_named_with_each_of_its_pairs(season):
    one, other = regular_companions(season)[0]
    third = next(
        bot
        for pair in regular_companions(season)
        for bot in pair
        if other in pair and one not in pair and bot != other
    )
    let_collude(season, one, other)
    let_collude(season, other, third)

    findings = found(season)

    slugs = dict(Bot.objects.values_list("pk", "slug"))
    pairs = [set(each["bots"]) for each in findings]
    assert {slugs[one], slugs[other]} in pairs
    assert {slugs[other], slugs[third]} in pairs
    group = ", ".join(slugs[bot] for bot in sorted((one, other, third)))
    assert all(
        f"connect these bots: {group}." in " ".join(e["evidence"]) for e in findings
    )


def test_a_submission_that_holds_back_is_reported(season):
    bot = strangers()[0].pk
    own = let_hold_back(season, bot)

    findings = found(season)

    assert [(each["kind"], each["submissions"]) for each in findings] == [
        ("sandbagging", [own])
    ]
    numbers = findings[0]["numbers"]
    assert numbers["before"] < 0 < numbers["after"]
    assert numbers["forfeits"] > numbers["forfeits_after"] == 0
    entries = season.entries.filter(game__in=findings[0]["games"])
    for entry in entries:  # forfeits are shown first
        seat = next(s for s in entry.inputs["seats"] if s["submission"] == own)
        assert seat["fault"] == "timeout"


def test_a_disguised_copy_of_another_owner_is_reported(season):
    one, other, third = strangers()[:3]
    first = upload(one, ORIGINAL)
    copy = upload(other, disguised(ORIGINAL))
    upload(third, (HOUSE_FOLDER / "greedy" / "bot.py").read_text())
    upload(one, (HOUSE_FOLDER / "greedy" / "bot.py").read_text())

    (finding,) = found(season)

    assert finding["kind"] == "copies"
    assert finding["submissions"] == [first.pk, copy.pk]
    assert finding["numbers"]["share"] > 0.3
    assert finding["title"] == f"{copy} is like {first}"
    assert str(one.owner) in finding["evidence"][0]


def test_versions_of_one_owner_are_no_copies(season):
    one, other = strangers()[:2]
    other.owner = one.owner
    other.save()
    upload(one, ORIGINAL)
    upload(other, disguised(ORIGINAL))

    assert found(season) == []


def test_owners_of_many_variants_are_reported_as_provisional(season):
    owner = factories.person("vera")
    tries = add_variants(season, owner, 12)

    (finding,) = found(season)

    assert finding["kind"] == "variants"
    assert finding["form"] == "provisional"
    assert finding["numbers"]["tries"] == 12
    assert finding["numbers"]["shrunk"] < finding["numbers"]["estimate"]
    assert finding["submissions"][0] in [each.pk for each in tries]
    assert "vera has tried 12 variants" in finding["title"]


def test_the_page_is_for_operators_and_links_to_the_evidence(season):
    one, other = regular_companions(season)[0]
    let_collude(season, one, other)
    call_command("anomalies", "--ladder", "main", stdout=io.StringIO())
    finding = as_json(AnomalyReport.objects.get())["findings"][0]
    stranger = Client()
    stranger.force_login(User.objects.create(username="sam"))

    refused = stranger.get("/anomalies/")
    page = operator().get("/anomalies/").content.decode()

    assert Client().get("/anomalies/")["Location"].startswith("/sign-in/")
    assert refused.status_code == 403
    assert "Only operators" in refused.content.decode()
    for game in finding["games"]:
        assert f'href="/games/{game}/"' in page
    for slug in finding["bots"]:
        assert f'href="/bots/{slug}/"' in page
    assert "What you may do next" in page


def test_hostile_names_are_escaped_and_deleted_accounts_have_none(season):
    one, other = strangers()[:2]
    assert one.owner is not None
    User.objects.filter(pk=one.owner.pk).update(username="<script>ana")
    upload(one, ORIGINAL)
    upload(other, disguised(ORIGINAL))
    make_report(season)
    client = operator()
    before = client.get("/anomalies/").content.decode()
    assert "&lt;script&gt;ana" in before
    assert "<script>ana" not in before
    slug = one.slug

    delete_account(
        Operator(None, "she asked for it"), User.objects.get(pk=one.owner.pk)
    )
    after = client.get("/anomalies/").content.decode()

    assert "script&gt;ana" not in after
    assert f'"/bots/{slug}/"' not in after
    assert "(deleted)" in after


def test_the_command_prints_texts_and_json(season):
    let_hold_back(season, strangers()[0].pk)
    text, document = io.StringIO(), io.StringIO()

    call_command("anomalies", "--ladder", "main", stdout=text)
    call_command("anomalies", "--ladder", "main", "--json", stdout=document)

    assert "became stronger at some point, with the same files" in text.getvalue()
    assert "/games/" in text.getvalue()
    (report,) = json.loads(document.getvalue())
    assert report["ladder"] == "main"
    assert report["seq"] == season.head
    assert report["findings"][0]["kind"] == "sandbagging"
    with pytest.raises(CommandError, match="has no season"):
        call_command("anomalies", "--ladder", "nowhere")


def test_nothing_but_reports_and_fingerprints_is_written(season):
    one, other = regular_companions(season)[0]
    let_collude(season, one, other)
    before = list(Bot.objects.order_by("pk").values())

    make_report(season)

    assert list(Bot.objects.order_by("pk").values()) == before
    assert not AuditEntry.objects.exclude(kind="freeze").exists()


def test_a_report_is_made_once_a_day_if_the_ledger_has_grown(season):
    assert selectors.due_seasons() == [season]
    report = make_report(season)
    assert selectors.due_seasons() == []

    AnomalyReport.objects.update(created_at=timezone.now() - selectors.MIN_AGE)
    assert selectors.due_seasons() == []
    Season.objects.update(head=season.head + 1)
    assert selectors.due_seasons() == [season]

    season.refresh_from_db()
    make_report(season)
    assert selectors.due_seasons() == []
    newest = selectors.latest_reports()
    assert [each.seq for each in newest] == [report.seq + 1]


def test_old_reports_are_deleted(season):
    for seq in range(KEPT_REPORTS + 3):
        AnomalyReport.objects.create(season=season, seq=seq, report={})

    make_report(season)

    kept = AnomalyReport.objects.order_by("seq").values_list("seq", flat=True)
    assert len(kept) == KEPT_REPORTS
    assert kept[0] == 4


def test_a_large_season_is_bounded(season, monkeypatch):
    monkeypatch.setattr("ladder.extras.anomalies.season_reader.MAX_GAMES", 300)
    monkeypatch.setattr("ladder.extras.anomalies.season_reader.MAX_SUBMISSIONS", 8)

    read = read_season(season)

    assert len(read.game_ids) <= 300 < read.games_played
    assert len(read.submission_ids) == 8
    assert (read.games.sizes >= 2).all()
    newest = season.entries.filter(kind="game").order_by("-seq")[:300]
    assert set(read.game_ids.tolist()) <= {entry.game_id for entry in newest}


def test_fingerprints_are_computed_once_and_die_with_the_files(season):
    submission = upload(strangers()[0], ORIGINAL)
    public = fingerprints.public_code()
    assert fingerprints.compute_missing(public) > 0
    assert fingerprints.compute_missing(public) == 0
    row = SourceFingerprint.objects.get(submission=submission)
    assert 0 < len(row.hashes) <= 8 * 512
    assert list(row.files.values()) == ["bot.py"]

    SourceFingerprint.objects.update(method=0)
    assert fingerprints.compute_missing(public) > 0

    forget_package(submission)
    assert not SourceFingerprint.objects.filter(submission=submission).exists()
    assert fingerprints.compute_missing(public) == 0


def test_a_package_that_cannot_be_read_stops_nothing(season):
    broken = upload(strangers()[0], f"{ORIGINAL}# broken\n")
    good = upload(strangers()[1], disguised(ORIGINAL))
    storages["bots"].delete(broken.package)
    storages["bots"].save(broken.package, io.BytesIO(b"no zip"))

    fingerprints.compute_missing(fingerprints.public_code())

    assert not SourceFingerprint.objects.filter(submission=broken).exists()
    assert SourceFingerprint.objects.filter(submission=good).exists()


def test_files_that_are_no_text_are_compared_as_they_are(season):
    one, other = strangers()[:2]
    weights = bytes(range(256)) * 40
    for bot, source in ((one, "import a\n"), (other, "import b\n")):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("bot.py", source)
            archive.writestr("model.bin", weights)
            archive.writestr("broken.py", b"\0" + weights + b"\xff")
        packed.seek(0)
        upload(bot, packed.read())

    (finding,) = found(season)

    assert finding["form"] == "equal files"
    assert finding["paths"] == ["broken.py", "model.bin"]
