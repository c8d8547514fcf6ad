"""The pages: what everybody sees, what only the owner sees, and hostile input."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from ladder.accounts.models import ApiToken
from ladder.bots.models import Bot, Submission
from ladder.games.models import DEAD_NOTE, Game
from ladder.moderation import bots as moderation
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import memberships
from ladder.ratings.models import Ladder, Rating
from tests import factories
from tests.factories import HOSTILE, Show

GOOD = "<code>"
BOT = b"print('ready')\n"


def addresses(show: Show) -> list[str]:
    game, waiting = show.game, show.waiting.games.get()
    return [
        "/",
        "/ladders/main/",
        "/bots/",
        f"/bots/{show.anas.bot.slug}/",
        f"/bots/{show.bens.bot.slug}/",
        f"/submissions/{show.anas.pk}/",
        f"/submissions/{show.rejected.pk}/",
        "/games/",
        f"/games/?bot={show.bens.bot.slug}",
        f"/games/{game.pk}/",
        f"/games/{waiting.pk}/",
        f"/matches/{show.match.pk}/",
        f"/matches/{show.waiting.pk}/",
        "/play/",
        "/docs/",
        "/docs/?q=forfeit",
        "/docs/protocol/",
        "/docs/problems/",
        "/replay/",
        "/sign-in/",
        "/confirm-email/",
        "/password-reset/",
        "/password-reset/sent/",
        "/password-reset/MQ/set-password/",
        "/api/docs/",
    ]


@pytest.mark.parametrize("who", ["", "ana", "ben", "cleo"])
def test_every_page_opens_for_everybody_and_escapes_hostile_text(
    visit, show: Show, who: str
) -> None:
    browser = visit(who)

    for address in addresses(show):
        page = browser.get(address)
        text = page.content.decode()
        assert page.status_code == 200, address
        assert HOSTILE not in text, address
        assert not re.search(r"<[^>]+ (style|on\w+)=", text), address
        # Browsers do not run data blocks.
        assert not re.search(
            r"<script(?![^>]*\bsrc=)(?![^>]* type=.application/json.)[^>]*>", text
        ), address
        # Sites that embed a game expect a whole address.
        embeds = r"(?!testserver/oembed/)"
        assert not re.search(rf'(src|href)="(https?:)?//{embeds}', text), address
        assert "default-src 'none'" in page["Content-Security-Policy"]
        assert page["X-Frame-Options"] == "DENY"
        assert page["X-Content-Type-Options"] == "nosniff"


class AccessibilityCheck(HTMLParser):
    """Collects faults that affect people who use a screen reader."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.headings: list[str] = []
        self._fields: list[dict[str, str | None]] = []
        self._labels: set[str | None] = set()
        self._table = 0

    def handle_starttag(self, tag: str, pairs: list[tuple[str, str | None]]) -> None:
        attrs = dict(pairs)
        if self._table == 1 and tag != "caption":
            self.faults.append(f"a table without a caption, at {self.getpos()}")
        self._table = 1 if tag == "table" else 0
        if tag == "th" and "scope" not in attrs:
            self.faults.append(f"a th without a scope, at {self.getpos()}")
        if tag == "svg" and not {"aria-hidden", "aria-label", "aria-labelledby"} & set(
            attrs
        ):
            self.faults.append(f"a picture without a name, at {self.getpos()}")
        if tag in {"input", "select"} and attrs.get("type") != "hidden":
            self._fields.append(attrs)
        if tag == "label":
            self._labels.add(attrs.get("for"))
        if tag in {"h1", "h2", "h3"}:
            self.headings.append(tag)

    def close(self) -> None:
        super().close()
        self.faults += [
            f"a field without a label: {attrs}"
            for attrs in self._fields
            if attrs.get("id") not in self._labels
        ]
        if self.headings.count("h1") != 1 or self.headings[0] != "h1":
            self.faults.append("the page does not start with its only h1")
        steps = pairwise(self.headings)
        self.faults += [f"{b} below {a}" for a, b in steps if (a, b) == ("h1", "h3")]


def test_every_page_is_accessible(visit, show: Show) -> None:
    browser = visit("ana")
    more = ["/me/", "/ladders/main/challenge/", "/tournaments/", "/odd/"]
    more += [f"/ladders/main/compare/?bot=grendel&other={show.bens.bot.slug}"]

    for address in [*addresses(show), *more]:
        if not address.startswith("/api/"):
            check = AccessibilityCheck()
            check.feed(browser.get(address).content.decode())
            check.close()
            assert check.faults == [], address


def test_an_unknown_page_is_not_found_in_html(visit) -> None:
    for address in ("/bots/x/", "/games/9/", "/matches/9/", "/ladders/x/", "/odd"):
        page = visit("").get(address)
        assert page.status_code == 404
        assert b"nothing at this address" in page.content


@pytest.mark.parametrize("who", ["ana", "ben", "cleo", ""])
def test_only_the_owner_sees_logs(visit, show: Show, who: str) -> None:
    browser, sees = visit(who), who == "ana"

    submission = browser.get(f"/submissions/{show.rejected.pk}/").content.decode()
    assert ("log &lt;script&gt;" in submission) is sees
    game = browser.get(f"/games/{show.game.pk}/").content.decode()
    assert ("stderr &lt;script&gt;" in game) is (who in {"ana", "ben"})
    bot = browser.get(f"/bots/{show.anas.bot.slug}/").content.decode()
    assert ("Upload a new version" in bot) is sees


def test_a_game_page_lists_its_turns_without_a_script(visit, show: Show) -> None:
    text = visit("").get(f"/games/{show.game.pk}/").content.decode()

    listed = re.findall(r'href="\?ply=(\d+)"><code>(.*?)</code>', text)
    frames = visit("").get(f"/games/{show.game.pk}/frames.json").json()["frames"]
    ends = [int(ply) for ply, _ in listed]
    for (_, turn), first, last in zip(listed, [0, *ends[:-1]], ends, strict=True):
        actions = [frame["action"] for frame in frames[first + 1 : last + 1]]
        assert turn.split("  ·  ") == actions
        assert len({frame["by"] for frame in frames[first + 1 : last + 1]}) == 1
    assert ends[-1] == len(frames) - 1


def test_frames_are_the_positions_before_each_action_and_at_the_end(
    visit, show: Show
) -> None:
    answer = visit("").get(f"/games/{show.game.pk}/frames.json")
    document = answer.json()
    frames = document["frames"]

    assert document["players"] == ["Grendel", HOSTILE]
    assert frames[0]["action"] is None
    assert frames[-1]["seat"] is None
    assert frames[-1]["scores"] == [seat.score for seat in show.game.seats.all()]
    assert [f["move"] for f in frames[1:]] == sorted(f["move"] for f in frames[1:])
    assert all(len(frame["heights"]) == 64 for frame in frames)
    again = visit("").get(
        f"/games/{show.game.pk}/frames.json", HTTP_IF_NONE_MATCH=answer["ETag"]
    )
    assert again.status_code == 304


def test_a_waiting_match_shows_neither_seed_nor_frames(visit, show: Show) -> None:
    game = show.waiting.games.get()
    browser = visit("ana")

    assert browser.get(f"/games/{game.pk}/frames.json").status_code == 404
    page = browser.get(f"/matches/{show.waiting.pk}/").content.decode()
    assert show.waiting.seed not in page
    assert show.match.seed in browser.get(f"/matches/{show.match.pk}/").content.decode()


def test_notes_name_their_move(visit, show: Show) -> None:
    page = visit("ana").get(f"/games/{show.game.pk}/").content.decode()

    assert "<dt>move 1</dt><dd>&lt;script&gt;" in page
    assert "1 note<" in page


def test_a_match_page_gives_the_reasons_of_the_matchmaker(visit, show: Show) -> None:
    page = visit("").get(f"/matches/{show.match.pk}/").content.decode()

    assert "<li>least played.</li><li>close in mu.</li>" in page


@pytest.mark.parametrize("who", ["", "ana"])
def test_the_failures_of_a_dead_game_are_for_operators(
    visit, show: Show, who: str
) -> None:
    """The note of a failure may quote paths of the host and texts of exceptions."""
    game = show.waiting.games.get()
    secret = "OSError: /srv/torres/secret.key"
    Game.objects.filter(pk=game.pk).update(status="dead", note=secret)
    browser = visit(who)

    for address in (f"/games/{game.pk}/", f"/matches/{show.waiting.pk}/"):
        assert "secret.key" not in browser.get(address).content.decode()
    answer = browser.get(f"/api/v1/games/{game.pk}/").json()
    assert answer["note"] == DEAD_NOTE


def test_the_owner_alone_reads_why_the_service_benched_a_bot(visit, show: Show) -> None:
    why = "4 of its latest 10 games were forfeits."
    assert memberships.bench(show.season, Rating.objects.get(bot=show.anas.bot), why)

    page = f"/bots/{show.anas.bot.slug}/"

    assert why in visit("ana").get(page).content.decode()
    assert "benched on Main ladder" in visit("ana").get("/me/").content.decode()
    assert why not in visit("cleo").get(page).content.decode()
    audit = Operator(None, "a secret of the operators")
    moderation.set_aside(audit, show.anas.bot, AuditEntry.Kind.BENCH)
    assert "a secret" not in visit("ana").get(page).content.decode()


def test_ana_creates_a_bot_and_uploads_to_it(visit) -> None:
    browser = visit("ana")

    made = browser.post("/me/bots/", {"name": "New one"})
    assert made["Location"] == "/bots/new-one/"
    file = SimpleUploadedFile("bot.py", BOT)
    sent = browser.post("/bots/new-one/upload/", {"archive": file})

    submission = Submission.objects.get()
    assert sent["Location"] == f"/submissions/{submission.pk}/"
    assert b"uploaded" in browser.get(sent["Location"]).content


def test_an_error_is_shown_on_the_page(visit) -> None:
    browser = visit("ana")
    browser.post("/me/bots/", {"name": "a"})
    file = SimpleUploadedFile("x.zip", b"garbage")

    page = browser.post("/bots/a/upload/", {"archive": file}, follow=True)

    assert b"neither a zip nor a tar.gz" in page.content
    taken = browser.post("/me/bots/", {"name": "a"}, follow=True)
    assert b"already a bot called a" in taken.content


@pytest.mark.parametrize("who", ["ben", "cleo", ""])
@pytest.mark.parametrize(
    "what",
    ["upload", "withdraw", "bring-back", "ladders/main/leave", "ladders/main/join"],
)
def test_nobody_else_can_change_ana_s_bot(visit, show: Show, who: str, what) -> None:
    slug = show.anas.bot.slug
    file = SimpleUploadedFile("bot.py", BOT)

    answer = visit(who).post(f"/bots/{slug}/{what}/", {"archive": file})

    assert answer.status_code == (404 if who else 302)
    assert who or "/sign-in/" in answer["Location"]
    assert Submission.objects.filter(bot=show.anas.bot).count() == 2
    assert Bot.objects.get(slug=slug).status == "active"


def test_ana_chooses_the_ladders_of_her_bot(visit, show: Show) -> None:
    browser, bot = visit("ana"), show.anas.bot
    blitz = factories.make_ladder("blitz").ladder
    page, join = f"/bots/{bot.slug}/", f"/bots/{bot.slug}/ladders/blitz/join/"
    assert join in browser.get(page).content.decode()
    assert "blitz" not in visit("ben").get(page).content.decode()

    assert browser.post(join)["Location"] == page
    assert memberships.place(bot, blitz).status == "active"
    text = browser.get(page).content.decode()
    assert join not in text
    assert f"/bots/{bot.slug}/ladders/blitz/leave/" in text

    browser.post(f"/bots/{bot.slug}/ladders/main/leave/")
    for who in ("ana", "ben", ""):
        assert ">left</span>" in visit(who).get(page).content.decode()
    assert ">left</span>" in visit("").get("/ladders/main/").content.decode()


def test_a_refusal_to_join_is_shown_on_the_page(visit, show: Show) -> None:
    browser, slug = visit("ana"), show.anas.bot.slug
    season = factories.make_ladder("cup")
    Ladder.objects.filter(pk=season.ladder_id).update(admission="operators")
    page = browser.get(f"/bots/{slug}/").content.decode()
    assert "The operators admit bots to this ladder." in page

    shown = browser.post(f"/bots/{slug}/ladders/cup/join/", follow=True)

    assert "The operators decide which bots play on cup" in shown.content.decode()
    assert browser.post(f"/bots/{slug}/ladders/no/join/").status_code == 404


def test_ana_withdraws_and_brings_back(visit, show: Show) -> None:
    browser, slug = visit("ana"), show.anas.bot.slug

    browser.post(f"/bots/{slug}/withdraw/")
    assert Bot.objects.get(slug=slug).status == "withdrawn"
    browser.post(f"/bots/{slug}/bring-back/")
    assert Bot.objects.get(slug=slug).status == "active"


def test_forms_need_their_csrf_token(visit) -> None:
    token = visit("ana").cookies["sessionid"].value
    strict = Client(enforce_csrf_checks=True)
    strict.cookies["sessionid"] = token

    answer = strict.post("/me/bots/", {"name": "a"})

    assert answer.status_code == 403
    assert b"form has expired" in answer.content
    assert not Bot.objects.exists()


def test_a_token_is_shown_once_and_can_be_revoked(visit) -> None:
    browser = visit("ana")
    text = re.search(
        'id="token">(torres_[^<]+)<',
        browser.post("/me/tokens/", {"name": "laptop"}).content.decode(),
    )
    assert text is not None
    page = browser.get("/me/tokens/").content.decode()
    assert "laptop" in page
    assert text[1] not in page

    made = ApiToken.objects.get(name="laptop")
    visit("ben").post(f"/me/tokens/{made.pk}/revoke/")
    assert ApiToken.objects.filter(pk=made.pk).exists()
    browser.post(f"/me/tokens/{made.pk}/revoke/")
    assert not ApiToken.objects.filter(pk=made.pk).exists()


@pytest.mark.parametrize(
    ("next_page", "location"),
    [("/games/", "/games/"), ("https://evil.example/", "/me/"), ("//evil", "/me/")],
)
def test_signing_in_leads_nowhere_else(
    api, visit, next_page: str, location: str
) -> None:
    api("ana")
    browser = visit("ana")
    browser.post("/sign-out/")
    user = ApiToken.objects.first().user
    user.set_password("pw")
    user.save()

    answer = browser.post(
        f"/sign-in/?next={next_page}", {"username": "ana", "password": "pw"}
    )

    assert answer["Location"] == location


def test_repeated_sign_in_attempts_are_throttled(visit, settings, api) -> None:
    settings.TORRES_RATES = settings.TORRES_RATES | {"sign-in": 2, "upload": 2}
    api("")
    answers = [visit("").post("/sign-in/", {"token": "x"}) for _ in range(4)]

    assert [a.status_code for a in answers][:1] == [422]
    assert answers[-1].status_code == 429


def test_the_list_of_games_has_a_next_page(visit, show: Show, monkeypatch) -> None:
    monkeypatch.setattr("ladder.web.pages.pages.ROWS", 1)
    first = visit("").get("/games/").content.decode()

    link = re.search(r'rel="next" href="([^"]+)"', first)
    assert link is not None
    second = visit("").get(f"/games/{link[1]}").content.decode()
    assert f'href="/games/{show.game.pk}/"' in second
