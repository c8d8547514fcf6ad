"""The page of a submission: four steps from the upload to the first rated game."""

import io
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from ladder.bots import submissions, validation
from ladder.bots.models import Bot, Submission
from ladder.games.durations import usual_durations
from ladder.games.models import Game, Worker
from ladder.web.pages import progress as upload_progress
from ladder.web.pages.progress import (
    MAX_LINES,
    StepState,
    UploadProgress,
    progress,
    telling_lines,
)
from tests.factories import (
    HOSTILE,
    Show,
    fold,
    make_bot,
    make_match,
    pair,
    play,
    upload,
)

Visit = Callable[[str], Client]
State = StepState


@pytest.fixture
def bot(show: Show) -> Bot:
    return show.anas.bot


def send(bot: Bot, source: str = "new") -> Submission:
    return submissions.submit(bot, io.BytesIO(source.encode()), "bot.py")


def states(submission: Submission) -> list[str]:
    submission.refresh_from_db()
    return [str(step.state) for step in seen(submission).steps]


def seen(submission: Submission, *, own: bool = False) -> UploadProgress:
    return progress(submission, own=own)


def make_worker(*languages: str) -> None:
    Worker.objects.create(
        name="w:7:7#1", host="w", languages=list(languages), sandbox="full"
    )


def test_an_upload_goes_through_four_steps(show: Show, bot: Bot) -> None:
    new = send(bot)
    assert states(new) == ["done", "waiting", "waiting", "waiting"]

    claimed = submissions.claim(new.pk)
    assert claimed is not None
    assert states(new) == ["done", "running", "waiting", "waiting"]
    submissions.renew_lease(claimed, Submission.Status.VALIDATING)
    assert states(new) == ["done", "done", "running", "waiting"]
    submissions.accept(claimed, {"summary": "Ready.", "steps": []}, "")
    assert states(new) == ["done", "done", "done", "waiting"]
    assert not seen(new).is_over

    match = make_match(new, show.bens, finished=0)
    pair(show.season, match)
    game = match.games.get()
    assert states(new) == ["done", "done", "done", "waiting"]
    assert seen(new).game == game
    play(game)
    assert states(new) == ["done", "done", "done", "running"]
    assert "rating follows" in seen(new).steps[-1].detail
    fold(show.season, game, {bot: (31.0, 1.0)})
    assert states(new) == ["done", "done", "done", "done"]
    assert seen(new).is_over


def test_only_games_of_this_upload_on_a_ladder_count(show: Show, bot: Bot) -> None:
    """The older upload has a rated game, and the new one plays a challenge."""
    new = upload(bot, b"another")
    challenge = make_match(new, show.bens)
    type(challenge).objects.filter(pk=challenge.pk).update(kind="challenge")

    assert states(new)[-1] == "waiting"
    assert seen(new).game is None


@pytest.mark.parametrize("status", ["cancelled", "dead", "voided"])
def test_a_game_without_a_result_is_not_the_first_one(
    show: Show, bot: Bot, status: str
) -> None:
    new = upload(bot, b"another")
    match = make_match(new, show.bens)
    pair(show.season, match)
    Game.objects.filter(match=match).update(status=status)

    assert states(new)[-1] == "waiting"


def test_the_page_names_the_first_game_and_where_it_climbs(
    visit: Visit, show: Show
) -> None:
    page = visit("").get(f"/submissions/{show.anas.pk}/").content.decode()

    assert f'href="/games/{show.game.pk}/">Replay of its first rated game' in page
    assert 'href="/bots/grendel/">Watch it climb' in page
    assert "progress.js" not in page
    assert "http-equiv" not in page


def test_a_page_that_is_not_over_follows_with_and_without_scripts(
    visit: Visit, bot: Bot
) -> None:
    page = visit("").get(f"/submissions/{send(bot).pk}/").content.decode()

    assert "progress.js" in page
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in page
    assert "data-over" not in page


@pytest.mark.parametrize("who", ["ana", "ben", ""])
def test_the_fragment_is_sent_again_only_if_something_changed(
    visit: Visit, bot: Bot, who: str
) -> None:
    new = send(bot)
    address = f"/submissions/{new.pk}/progress.html"
    browser = visit(who)
    first = browser.get(address)

    assert first.status_code == 200
    assert first["Cache-Control"] == "private, no-cache"
    again = browser.get(address, HTTP_IF_NONE_MATCH=first["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]
    submissions.claim(new.pk)
    changed = browser.get(address, HTTP_IF_NONE_MATCH=first["ETag"])
    assert changed.status_code == 200
    assert changed["ETag"] != first["ETag"]


@pytest.mark.parametrize("who", ["ana", "ben", ""])
def test_the_owner_alone_sees_the_lines_of_the_log(
    visit: Visit, show: Show, who: str
) -> None:
    browser, sees = visit(who), who == "ana"

    for address in ("", "progress.html"):
        page = browser.get(f"/submissions/{show.rejected.pk}/{address}")
        text = page.content.decode()
        assert ("log &lt;script&gt;" in text) is sees
        assert HOSTILE not in text
        assert "Why it was rejected" in text
        assert "data-over" in text


@pytest.mark.parametrize(
    ("source", "sentence", "line"),
    [
        ("import sys; sys.exit('no luck')", "ended with an error", "no luck"),
        ("raise ValueError('what')", "ended with an error", "ValueError: what"),
    ],
)
def test_a_rejected_upload_says_what_happened_and_what_to_do(
    bot: Bot, settings, source: str, sentence: str, line: str
) -> None:
    settings.TORRES_SANDBOX = "none"
    new = send(bot, source)
    validation.run(new.pk)

    assert states(new) == ["done", "done", "failed", "not reached"]
    failure = seen(new, own=True).failure
    assert failure is not None
    assert sentence in failure.cause
    assert failure.cure.endswith(".")
    assert any(line in each for each in failure.lines)
    public = seen(new).failure
    assert public is not None
    assert public.lines == []


def test_an_upload_that_cannot_be_built_fails_in_its_second_step(bot: Bot) -> None:
    new = send(bot)
    claimed = submissions.claim(new.pk)
    assert claimed is not None
    steps = [{"name": "unpack", "ok": True}, {"name": "build", "ok": False}]
    report = {"summary": "bot.c does not compile.", "steps": steps}
    submissions.reject(claimed, report, "bot.c:3: error: expected ';'\nmake: stopped")

    assert states(new) == ["done", "failed", "not reached", "not reached"]
    failure = seen(new, own=True).failure
    assert failure is not None
    assert failure.cause == "bot.c does not compile."
    assert failure.lines == ["bot.c:3: error: expected ';'"]


@pytest.mark.parametrize(
    ("languages", "message"),
    [
        ((), "no worker is running"),
        (("c", "java"), "no worker offers python now"),
        (("c", "python"), "It waits for a worker."),
    ],
)
def test_a_waiting_upload_says_what_the_workers_lack(
    bot: Bot, languages: tuple[str, ...], message: str
) -> None:
    new = send(bot)
    Worker.objects.update(drained=True)
    if languages:
        make_worker(*languages)

    assert message in seen(new).steps[1].detail


def test_an_upload_that_gets_no_games_is_not_followed(show: Show, bot: Bot) -> None:
    new = upload(bot, b"another")
    show.season.ladder.memberships.filter(bot=bot).update(status="left")
    assert "plays on no ladder" in seen(new).steps[-1].detail
    assert seen(new).is_over

    Bot.objects.filter(pk=bot.pk).update(status="withdrawn")
    new = Submission.objects.select_related("bot").get(pk=new.pk)
    assert "withdrawn by its owner" in seen(new).steps[-1].detail
    assert seen(new).is_over

    upload(bot_in_play(bot), b"the next")
    assert states(new)[-1] == "failed"
    assert "Another version" in seen(new).steps[-1].detail


def bot_in_play(bot: Bot) -> Bot:
    Bot.objects.filter(pk=bot.pk).update(status="active")
    return Bot.objects.get(pk=bot.pk)


def test_the_games_of_an_old_upload_are_not_searched(
    show: Show, django_assert_num_queries
) -> None:
    long_ago = timezone.now() - upload_progress.FRESH_PERIOD - timedelta(minutes=1)
    show.anas.ready_at = long_ago
    usual_durations("python")

    with django_assert_num_queries(0):
        state = seen(show.anas)

    assert state.is_over
    assert "The page of the bot lists its games" in state.steps[-1].detail


def test_usual_durations_are_the_medians_of_the_latest_uploads(show: Show) -> None:
    now = timezone.now()
    for seconds in (2, 4, 60):
        one = make_bot(f"bot {seconds}")
        steps = [{"name": "unpack", "ok": True, "ms": 500}]
        steps += [{"name": "play a", "ok": True, "ms": 1000 * seconds}]
        Submission.objects.filter(pk=one.pk).update(
            created_at=now - timedelta(seconds=seconds),
            claimed_at=now,
            report={"summary": "Ready.", "steps": steps},
            language="rust",
        )

    usual = usual_durations("rust")

    assert (usual.build_s, usual.validation_s) == (0.5, 4.0)
    assert usual.wait_s == pytest.approx(4.0)
    assert usual_durations("go").validation_s is None


def test_the_telling_lines_are_the_evidence_the_complaints_or_the_end() -> None:
    plain = "\n".join(f"line {k}" for k in range(100))
    found = f"cause\nthe cure\nat its start: crash\n  File x\n  KeyError\n{plain}"

    assert telling_lines(found, "the cure") == [
        "at its start: crash",
        "  File x",
        "  KeyError",
    ]
    assert telling_lines("cause\nthe cure", "the cure") == ["cause", "the cure"]
    assert telling_lines(plain)[-1] == "line 99"
    assert len(telling_lines(plain)) == MAX_LINES
    assert telling_lines(f"a.rs:1: error[E0425]: no\n{plain}") == [
        "a.rs:1: error[E0425]: no"
    ]
    assert telling_lines("") == []
    assert len(telling_lines("x" * 10_000)[0]) < 1000


def test_a_second_game_does_not_replace_the_first_one(show: Show) -> None:
    second = make_match(show.anas, show.bens)
    pair(show.season, second)

    assert seen(show.anas).game == show.game
