"""The pages in a real browser: the replay viewer, the forms and the security policy."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from engine.game import TorresGame
from engine.replay import document
from engine.rulesets import resolve
from engine.setup import derive
from ladder.accounts import tokens
from ladder.bots.models import Bot
from tests import factories
from tests.browser import SHIFTS, opened
from tests.engine.factories import random_replay
from tests.web.test_watching import begin, end, go_on
from torres.cli.view import page_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]
MOST_SHIFT = 0.02
NARROW_RAIL = {"width": 1024, "height": 768}
"""The texts beside the board wrap most often at this size."""


def test_a_replay_is_stepped_through_with_buttons_and_keys(page: Page) -> None:
    show = factories.everything()
    page.goto(f"/games/{show.game.pk}/")
    count = page.locator("#count")
    description = page.locator("#description")

    expect(description).to_contain_text("the game is over")
    expect(page.locator("#players .score").first).to_have_text(str(best_score(show)))
    expect(page.locator("#board .cell")).to_have_count(64)
    page.click("#first")
    expect(description).to_contain_text("The game begins.")
    page.click("#on")
    expect(count).to_contain_text("1 of")
    expect(description).to_contain_text("enter")
    expect(page.locator("#board .knight")).to_have_count(1)
    page.locator("#main").focus()
    page.keyboard.press("ArrowRight")
    expect(count).to_contain_text("2 of")
    page.keyboard.press("ArrowLeft")
    expect(count).to_contain_text("1 of")
    page.keyboard.press("End")
    expect(description).to_contain_text("the game is over")
    expect(page.locator("#turns .turn.now")).to_have_count(1)
    page.click("#play")
    expect(page.locator("#play")).to_contain_text("Pause")


def test_the_list_of_turns_leads_to_their_ends(page: Page) -> None:
    show = factories.everything()
    page.goto(f"/games/{show.game.pk}/")
    count = page.locator("#count")

    page.locator("#turns .turn").nth(5).click()
    now = page.locator("#turns .turn.now")
    expect(now).to_have_attribute("aria-current", "step")
    last = now.get_attribute("data-last")
    expect(count).to_contain_text(f"{last} of")
    page.locator("#main").focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#turns .turn").nth(4)).to_have_class("turn now")


def best_score(show: factories.Show) -> int:
    return max(seat.score or 0 for seat in show.game.seats.all())


def follow_to_its_end(page: Page) -> None:
    show = factories.everything()
    game, claim = begin(show.waiting, moves=5)
    page.goto(f"/games/{game.pk}/")
    count = page.locator("#count")

    expect(count).to_have_text("5 of 5")
    turns = page.locator("#turns .turn")
    expect(turns.last).to_have_attribute("data-last", "5")
    go_on(claim, show.waiting, 5, 8)
    expect(count).to_have_text("8 of 8")
    expect(page.locator("#turns .turn.now")).to_have_attribute("data-last", "8")
    page.click("#first")
    go_on(claim, show.waiting, 8, 9)
    expect(count).to_have_text("0 of 9")

    end(claim, show.waiting)
    expect(page.locator("h1")).to_contain_text("finished")
    expect(count).to_contain_text("0 of")  # the viewer stays where it is
    game.refresh_from_db()
    best = max(seat.score or 0 for seat in game.seats.all())
    expect(page.locator("#live")).to_contain_text("The game is over.")
    page.click("#last")
    expect(page.locator("#players .score").first).to_have_text(str(best))
    expect(page.locator("#players .tag.ready").first).to_have_text("winner")
    page.get_by_role("link", name="Show the scoring and the replay").click()
    expect(page.get_by_role("link", name="Download the replay")).to_be_visible()


def test_a_running_game_is_followed_by_a_stream(served_page: Page) -> None:
    asked = []
    served_page.on("request", lambda request: asked.append(request.url))
    follow_to_its_end(served_page)

    addresses = [url.partition("?")[0].rpartition("games/")[2] for url in asked]
    streams = [address for address in addresses if address.endswith("/stream/")]
    polls = [address for address in addresses if address.endswith("/frames.json")]
    assert len(streams) == 1
    assert len(polls) == 2  # one of each page: the game while it runs, and its replay


def test_nothing_moves_on_the_page_of_a_running_game(served_page: Page) -> None:
    served_page.set_viewport_size(NARROW_RAIL)
    served_page.add_init_script(SHIFTS)
    show = factories.everything()
    game, claim = begin(show.waiting, moves=5)
    served_page.goto(f"/games/{game.pk}/")
    for known in range(5, 145, 5):  # the game has 151 actions
        go_on(claim, show.waiting, known, known + 5)
        count = f"{known + 5} of {known + 5}"
        expect(served_page.locator("#count")).to_have_text(count)

    assert served_page.evaluate("shift") <= MOST_SHIFT


def test_a_running_game_is_polled_if_the_server_has_no_streams(
    chromium: Browser, live_server, data_dir
) -> None:
    with opened(chromium, live_server.url, refused=404) as page:
        follow_to_its_end(page)


def test_the_address_links_to_the_position_that_is_shown(page: Page) -> None:
    show = factories.everything()
    page.goto(f"/games/{show.game.pk}/#ply=7")
    count = page.locator("#count")

    expect(count).to_contain_text("7 of")
    page.click("#on")
    page.wait_for_url("**/#ply=8")
    text = page.locator("#description").inner_text()
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("#description")).to_have_text(text)
    other.goto(f"/games/{show.game.pk}/#ply=999999")
    expect(other.locator("#description")).to_contain_text("the game is over")


def test_both_views_show_all_pieces_and_are_remembered(page: Page) -> None:
    show = factories.everything()
    frames = page.request.get(f"/games/{show.game.pk}/frames.json").json()["frames"]
    page.goto(f"/games/{show.game.pk}/")

    for _ in range(2):
        for ply in (1, len(frames) // 2, len(frames) - 1):
            page.evaluate(f"location.hash = 'ply={ply}'")
            expect(page.locator("#count")).to_contain_text(f"{ply} of")
            knights = sum(map(len, frames[ply]["knights"]))
            expect(page.locator("#board .knight:not(.ghost)")).to_have_count(knights)
            expect(page.locator("#board .cell")).to_have_count(64)
        page.click("#view")
    page.click("#view")
    page.reload()
    expect(page.locator("#view")).to_have_text("Isometric")


def test_an_address_that_somebody_types_counts_beside_the_pages_own(page: Page) -> None:
    """The page writes its ply into the address late, perhaps before the event."""
    show = factories.everything()
    page.goto(f"/games/{show.game.pk}/#ply=0")
    expect(page.locator("#count")).to_have_text(re.compile(r"^0 of"))

    page.evaluate("location.hash = 'ply=1'; history.replaceState(null, '', '#ply=5')")

    expect(page.locator("#count")).to_have_text(re.compile(r"^1 of"))


def test_the_score_curve_can_be_clicked(page: Page) -> None:
    show = factories.everything()
    page.goto(f"/games/{show.game.pk}/")

    expect(page.locator("#count")).to_have_text(re.compile(r"^(\d+) of \1$"))
    box = page.locator("#at").bounding_box()
    assert box
    page.locator("#at").click(position={"x": box["width"] / 4, "y": 20})

    expect(page.locator("#count")).not_to_have_text(re.compile(r"^(\d+) of \1$"))
    quarter, last = map(int, page.locator("#count").inner_text().split(" of "))
    assert quarter == pytest.approx(last / 4, abs=2)


def test_a_file_of_torres_view_needs_no_server(page: Page, tmp_path: Path) -> None:
    rules = resolve("yucata", 2)
    game = TorresGame(rules, derive(rules, "view"))
    moves = []
    while not game.over:
        action = game.legal()[-1]
        moves.append({"seat": game.seat, "actions": [action], "ms": 1.5})
        game.play(action)
    names = [{"name": factories.HOSTILE}, {"name": "two"}]
    replay = document(game, seed="view", players=names, moves=moves, forfeits=[])
    file = tmp_path / "game.html"
    file.write_text(page_of(replay, "game"))

    page.add_init_script(SHIFTS)
    page.goto(f"{file.as_uri()}#ply=12")

    expect(page.locator("#count")).to_contain_text("12 of")
    expect(page.locator("#players")).to_contain_text(factories.HOSTILE)
    assert page.evaluate("shift") <= MOST_SHIFT
    page.click("#last")
    expect(page.locator("#description")).to_contain_text("the game is over")
    scores = game.result["scores"] if game.result else []
    for seat, score in enumerate(scores):
        row = page.locator(f'#players [data-seat="{seat}"]')
        expect(row.locator(".score")).to_have_text(str(score))
    shown = page.locator("#players .score").all_inner_texts()
    assert shown == [str(score) for score in sorted(scores, reverse=True)]


def test_the_viewer_shows_what_bots_say_and_expect(page: Page, tmp_path: Path) -> None:
    replay = random_replay("yucata", 2, "thoughts")
    first, second = (
        next(move for move in replay["moves"] if move["seat"] == seat)
        for seat in (0, 1)
    )
    first |= {"say": "<b>b4</b> is mine", "expect": 0.625}
    second |= {"expect": 0.4}
    file = tmp_path / "game.html"
    file.write_text(page_of(replay, "game"))

    page.goto(f"{file.as_uri()}#ply=0")
    row = page.locator("#players [data-seat='0']")
    expect(row.locator(".thought")).to_be_hidden()
    page.click("#last")
    expect(row.locator(".thought q")).to_have_text("<b>b4</b> is mine")
    expect(row.locator(".thought .tag")).to_have_text("expects 63 %")
    other = page.locator("#players [data-seat='1']")
    expect(other.locator(".thought")).to_have_text("expects 40 %")
    expect(page.locator("#curve .expected")).to_have_count(2)


def test_a_hostile_name_runs_no_script(page: Page) -> None:
    show = factories.everything()
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    for address in ("/", "/games/", f"/games/{show.game.pk}/"):
        page.goto(address)
        expect(page.get_by_text(factories.HOSTILE).first).to_be_attached()

    page.locator("#back").click()
    assert dialogs == []


def test_without_scripts_links_lead_from_turn_to_turn(
    chromium: Browser, live_server
) -> None:
    show = factories.everything()
    with opened(chromium, live_server.url, java_script_enabled=False) as page:
        page.goto(f"/games/{show.game.pk}/")

        expect(page.locator("#board .cell")).to_have_count(64)
        scores = page.locator("#players .score").all_inner_texts()
        assert int(scores[0]) == best_score(show)
        expect(page.locator(".controls")).to_be_hidden()
        assert page.locator("#turns .turn").count() > 20
        expect(page.get_by_role("link", name="Next turn")).to_have_count(0)
        page.get_by_role("link", name="Turn before").click()
        before = page.locator("#turns .now").inner_text()
        page.get_by_role("link", name="Next turn").click()
        expect(page.locator("#turns .now")).not_to_have_text(before)
        page.get_by_role("link", name="First").click()
        expect(page.locator("#board .knight")).to_have_count(0)


def test_the_castles_are_explained_for_pointer_and_keyboard(page: Page) -> None:
    show = factories.everything()
    address = f"/games/{show.game.pk}/"
    frames = page.request.get(f"{address}frames.json").json()["frames"]
    scored = next(k for k, frame in enumerate(frames) if frame.get("ends_phase"))
    castle = frames[scored]["castles"][0]
    points = castle["seats"][0][2]
    page.goto(f"{address}#ply={scored}")
    expect(page.locator("#count")).to_contain_text(f"{scored} of")

    first = page.locator("#castles button").first
    first.focus()
    expect(page.locator("#castle")).to_contain_text(f"= {points} for ")
    expect(first).to_have_accessible_name(re.compile(r"\d+ spaces? × level \d+ = "))
    area = int(re.findall(r"(\d+) spaces?", page.locator("#castle").inner_text())[0])
    expect(page.locator("#board .chosen")).to_have_count(area)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#castles button").nth(1)).to_be_focused()
    page.locator("h1").hover()
    page.locator(f"#board [data-space={castle['spaces'][0]}] .cell").hover(force=True)
    expect(page.locator("#castle")).to_contain_text("The castle at ")


def test_the_board_is_turned_and_shows_the_same_position(page: Page) -> None:
    show = factories.everything()
    page.goto(f"/games/{show.game.pk}/#ply=60")
    expect(page.locator("#count")).to_contain_text("60 of")
    heights = "nodes => nodes.map(n => n.dataset.space + (n.textContent || 0)).sort()"
    spaces = page.locator("#board .space")
    before = spaces.evaluate_all(heights)
    front = page.locator("#board .axis").first.text_content()

    page.locator("#main").focus()
    for view in range(2):
        for _ in range(4):
            page.keyboard.press("r")
            assert spaces.evaluate_all(heights) == before, view
        page.keyboard.press("v")
    page.keyboard.press("v")
    page.keyboard.press("r")
    assert page.locator("#board .axis").first.text_content() != front


@pytest.mark.parametrize("size", [(1440, 900), (1024, 768), (390, 844)])
def test_the_board_comes_first_and_fits_the_window(
    page: Page, size: tuple[int, int]
) -> None:
    width, height = size
    show = factories.everything()
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"/games/{show.game.pk}/")
    expect(page.locator("#viewer")).to_have_class("ready")

    board = page.locator("#board").bounding_box()
    assert board
    share = 0.9 if width < 500 else 0.55
    assert board["width"] > share * width
    assert board["y"] < 100
    for view in range(2):
        for part in ("#board", "#play", "#at", "#players li >> nth=0"):
            box = page.locator(part).bounding_box()
            assert box, part
            assert box["y"] + box["height"] <= height, (view, part)
        sizes = page.locator("#board .level, #board .axis").evaluate_all(
            "nodes => nodes.map(node => parseFloat(getComputedStyle(node).fontSize)"
            " * node.getScreenCTM().a)"
        )
        assert min(sizes) >= 11.9
        page.click("#view")


def test_ana_signs_in_makes_a_bot_and_uploads_it(page: Page, tmp_path: Path) -> None:
    token = tokens.token_for("ana")
    (tmp_path / "bot.py").write_text("import sys")
    page.goto("/me/")
    page.get_by_label("Your API token").fill(token)
    page.get_by_role("button", name="Sign in with the token").click()
    page.get_by_label("Name of a new bot").fill("Ana's best")
    page.get_by_role("button", name="Create bot").click()
    page.get_by_label("one source file").set_input_files(tmp_path / "bot.py")
    page.get_by_role("button", name="Upload").click()

    expect(page.locator("h1")).to_contain_text("Ana's best #1")
    assert Bot.objects.get().owner.username == "ana"
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()


def test_a_person_signs_up_with_the_keyboard_and_without_scripts(
    chromium: Browser, live_server, data_dir: Path, settings
) -> None:
    settings.TORRES_SIGN_UP = "open"
    options = {"java_script_enabled": False, "refused": 422}
    with opened(chromium, live_server.url, **options) as page:
        page.goto("/")
        page.get_by_role("link", name="Sign up").press("Enter")
        page.get_by_label("User name").focus()
        for text in ("house", "four words without sense", "four words without sense"):
            page.keyboard.type(text)
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")

        name = page.get_by_label("User name")
        expect(name).to_have_accessible_description(re.compile("house is reserved"))
        expect(name).to_have_attribute("aria-invalid", "true")
        name.fill("ana")
        page.get_by_label("Password", exact=True).fill("four words without sense")
        page.get_by_label("The same password again").fill("four words without sense")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Your account is ready.")).to_be_visible()
        page.get_by_role("link", name="ana").click()
        page.get_by_label("Name of a new bot").fill("first")
        page.get_by_role("button", name="Create bot").click()
        expect(page.locator("h1")).to_contain_text("first")


def test_the_api_page_works_without_the_internet(page: Page) -> None:
    page.goto("/api/docs/")

    expect(page.get_by_text("/api/v1/bots/", exact=True).first).to_be_visible()


@pytest.mark.parametrize("width", [360, 1200])
def test_no_page_is_wider_than_the_window(page: Page, width: int, settings) -> None:
    settings.TORRES_SIGN_UP = "open"
    show = factories.everything()
    page.set_viewport_size({"width": width, "height": 800})
    for address in (
        "/",
        f"/bots/{show.bens.bot.slug}/",
        f"/games/{show.game.pk}/",
        f"/matches/{show.match.pk}/",
        f"/ladders/main/compare/?bot=grendel&other={show.bens.bot.slug}",
        "/bots/",
        "/docs/protocol/",
        "/sign-in/",
        "/sign-up/",
        "/password-reset/",
    ):
        page.goto(address)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, address


def test_a_dropped_file_is_shown_in_the_viewer(page: Page) -> None:
    replay = random_replay("yucata", 3, "drop")  # a seat forfeits at ply 60
    replay["players"][0]["name"] = factories.HOSTILE
    page.goto("/replay/")

    page.evaluate(
        """(text) => {
          const files = new DataTransfer();
          files.items.add(new File([text], "dropped.json"));
          const drop = new DragEvent("drop", { dataTransfer: files, bubbles: true });
          document.querySelector("form.upload").dispatchEvent(drop);
        }""",
        json.dumps(replay),
    )

    expect(page.locator("h1")).to_have_text("dropped.json")
    expect(page.locator("#players")).to_contain_text(factories.HOSTILE)
    page.evaluate("location.hash = 'ply=60'")
    expect(page.locator("#forfeits")).to_contain_text("used up the time")
    page.click("#on")
    expect(page.locator("#forfeits")).to_be_empty()
    page.click("#last")
    expect(page.locator("#description")).to_contain_text("the game is over")
    expect(page.locator("#legal")).to_be_hidden()


def test_another_site_shows_a_game_in_a_frame(
    page: Page, live_server, tmp_path: Path
) -> None:
    show = factories.everything()
    frame = f"{live_server.url}/games/{show.game.pk}/embed/"
    (tmp_path / "blog.html").write_text(f'<iframe id="game" src="{frame}"></iframe>')
    page.goto((tmp_path / "blog.html").as_uri())

    game = page.frame_locator("#game")

    expect(game.locator("#board .cell")).to_have_count(64)
    game.locator("#first").click()
    game.locator("#on").click()
    expect(game.locator("#count")).to_contain_text("1 of")
    expect(game.locator("h1 a")).to_have_attribute("target", "_blank")


def test_the_legal_actions_of_a_position_are_marked_and_listed(page: Page) -> None:
    show = factories.everything()
    address = f"/games/{show.game.pk}/legal.json?ply=40"
    legal = page.request.get(address).json()["legal"]
    spaces = [re.findall(r"[a-h][1-8]", action) for action in legal]
    targets = {found[-1] for found in spaces if found}
    page.goto(f"/games/{show.game.pk}/#ply=40")
    expect(page.locator("#count")).to_contain_text("40 of")
    expect(page.locator("#legal-part")).to_be_hidden()

    page.locator("#main").focus()
    page.keyboard.press("l")

    expect(page.locator("#board .target")).to_have_count(len(targets))
    expect(page.locator("#legal-here")).to_contain_text(f"{len(legal)} legal actions")
    expect(page.locator("#legal-all li")).to_have_count(len(legal))
    page.locator("#board .space:has(.target) .cell").first.hover(force=True)
    expect(page.locator("#legal-here")).to_contain_text(re.compile(r"^[a-h][1-8]: "))
    page.click("#last")
    expect(page.locator("#board .target")).to_have_count(0)


def test_the_page_of_a_waiting_game_shows_it_as_soon_as_it_runs(
    served_page: Page,
) -> None:
    page = served_page
    show = factories.everything()
    waiting = show.waiting.games.get()
    page.goto(f"/games/{waiting.pk}/")
    expect(page.get_by_text("waiting for a worker")).to_be_visible()

    begin(show.waiting, moves=3)

    expect(page.locator("#count")).to_have_text("3 of 3")
