"""The pages around the leaderboard in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, JSHandle, Page, expect

from ladder.accounts import tokens
from ladder.bots import validation
from ladder.bots.models import Bot, Submission
from ladder.games.models import Seat
from ladder.ratings.selectors import validation_forms
from tests import factories
from tests.browser import opened

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]
KIT = Path("torres/kits/python/bot.py")


def sign_in(page: Page, name: str) -> None:
    page.goto("/sign-in/")
    page.get_by_label("Your API token").fill(tokens.token_for(name))
    page.get_by_role("button", name="Sign in with the token").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def dragged(page: Page, *files: tuple[str, str]) -> JSHandle:
    """Return what a browser hands over when these files are dropped."""
    return page.evaluate_handle(
        """files => {
            const transfer = new DataTransfer();
            const add = ([name, text]) => transfer.items.add(new File([text], name));
            files.forEach(add);
            return transfer;
        }""",
        [list(file) for file in files],
    )


def drop(page: Page, *files: tuple[str, str]) -> None:
    """Drop these files on the form, once the script that takes them has run."""
    page.wait_for_load_state("load")
    event = {"dataTransfer": dragged(page, *files)}
    page.locator("form.upload").dispatch_event("drop", event)


def step(page: Page, number: int) -> str:
    """Return the selector of a step, from 1."""
    return f".progress li:nth-child({number})"


def test_a_dropped_file_is_followed_to_its_first_rated_game(
    page: Page, settings
) -> None:
    """The page advances by itself; the validation plays real games with the kit."""
    settings.TORRES_SANDBOX = "none"
    show = factories.everything()
    sign_in(page, "ana")
    page.goto("/bots/grendel/")

    drop(page, ("bot.py", KIT.read_text()))
    expect(page.locator("h1")).to_contain_text("Grendel #3")
    expect(page.locator(step(page, 1))).to_contain_text("Uploaded done")
    expect(page.locator(step(page, 2))).to_contain_text("Built waiting")
    new = Submission.objects.get(number=3)
    validation.run(new.pk, validation_forms(new.pk))
    expect(page.locator(step(page, 3))).to_contain_text("Validated done")
    expect(page.locator("h1 .tag")).to_have_text("ready")
    expect(page.locator(step(page, 4))).to_contain_text("pairs new versions first")

    match = factories.make_match(new, show.bens, finished=0)
    factories.pair(show.season, match)
    expect(page.locator(step(page, 4))).to_contain_text("is scheduled")
    game = match.games.get()
    factories.play(game)
    factories.fold(show.season, game, {new.bot: (31.0, 1.0)})
    expect(page.locator(step(page, 4))).to_contain_text("First rated game done")
    page.get_by_role("link", name="Replay of its first rated game").click()
    expect(page.locator("h1")).to_contain_text(f"Game {game.pk}")


def test_what_cannot_be_uploaded_is_said_before_it_is_sent(
    page: Page, settings
) -> None:
    settings.TORRES_UPLOAD_BYTES = 100
    factories.everything()
    sign_in(page, "ana")
    page.goto("/bots/grendel/")
    notice = page.locator(".dropnotice")

    drop(page, ("a.py", "1"), ("b.py", "2"))
    expect(notice).to_contain_text("These are 2 files")
    drop(page)
    expect(notice).to_contain_text("That is no file")
    drop(page, ("large.py", "x" * 101))
    expect(notice).to_contain_text("large.py has 101 bytes; the limit is 100")
    assert page.url.endswith("/bots/grendel/")
    assert Submission.objects.count() == 3


def test_without_scripts_an_upload_is_followed_by_loading_the_page(
    chromium: Browser, live_server, data_dir: Path, tmp_path: Path
) -> None:
    show = factories.everything()
    (tmp_path / "bot.py").write_text("print(1)")
    with opened(chromium, live_server.url, java_script_enabled=False) as page:
        sign_in(page, "ana")
        page.goto(f"/bots/{show.anas.bot.slug}/")

        expect(page.locator(".drophint")).to_be_hidden()
        page.get_by_label("one source file").set_input_files(tmp_path / "bot.py")
        page.get_by_role("button", name="Upload").click()
        expect(page.locator(step(page, 2))).to_contain_text("Built waiting")
        new = Submission.objects.get(number=3)
        Submission.objects.filter(pk=new.pk).update(status="validating")
        expect(page.locator(step(page, 3))).to_contain_text("Validated running")


def test_a_field_suggests_bots_while_somebody_types(page: Page) -> None:
    show = factories.everything()
    factories.rate(show.season, factories.make_bot("Wiglaf", "cleo"), 20.0, 1.0)
    page.goto("/ladders/main/compare/")
    options = page.locator("#other-found option")

    page.locator("#other").press_sequentially("wigl")
    expect(options).to_have_count(1)
    expect(options).to_have_attribute("value", "Wiglaf")
    page.locator("#other").fill("alert(1)")
    expect(options).to_have_attribute("value", factories.HOSTILE)
    page.locator("#other").fill("Wiglaf")
    page.locator("#bot").fill("Grendel")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("h1")).to_have_text("Grendel and Wiglaf")


NAMES = ["W" * 64, "שלום עולם " * 6, "<b>x</b>" * 8, "Łódź-" * 12]


@pytest.mark.parametrize("width", [360, 1200])
def test_hostile_names_make_no_page_wider_than_the_window(
    page: Page, width: int
) -> None:
    show = factories.everything()
    ana = show.anas.bot.owner
    for number, name in enumerate(NAMES):
        other = factories.make_bot(f"other {number}", f"{'o' * 140}{number}")
        Bot.objects.filter(pk=other.bot_id).update(name=name[:64])
        factories.rate(show.season, other, 20.0 + number, 1.0)
        Bot.objects.filter(pk=other.bot_id, name__startswith="W").update(owner=ana)
    hostile = Bot.objects.get(name="W" * 64)
    Seat.objects.filter(bot=show.anas.bot, rank__isnull=False).update(
        fault="timeout", fault_detail="x" * 500
    )
    sign_in(page, "ana")
    page.set_viewport_size({"width": width, "height": 800})
    addresses = ["/", "/me/", "/ladders/", "/ladders/main/", "/bots/", "/bots/grendel/"]
    addresses += [f"/bots/{hostile.slug}/", f"/submissions/{show.rejected.pk}/"]
    addresses += ["/ladders/main/challenge/", "/ladders/main/compare/"]
    addresses += [f"/ladders/main/compare/?bot=grendel&other={hostile.slug}"]
    addresses += [f"/submissions/{hostile.submissions.get().pk}/"]
    for address in addresses:
        page.goto(address)
        sizes = page.evaluate(
            "(({scrollWidth, clientWidth}) => [scrollWidth, clientWidth])"
            "(document.documentElement)"
        )
        assert sizes[0] <= sizes[1], address
