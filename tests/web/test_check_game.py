"""Readers check a game in their browser, and find documents that a service forged."""

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.templatetags.static import static
from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from ladder.games import replays
from ladder.games.models import Game
from ladder.public_log import tree
from tests.browser import opened
from tests.public_log.audited import AuditedLadder
from tests.public_log.test_receipts import receipt_of
from torres.tlog.leaves import replay_digest
from torres.tlog.notes import SigningKey
from torres.tlog.receipts import Receipt

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
]
FITS = "Everything that was checked fits."
WRONG = "Something does not fit."
ENDED = re.compile(r"fits?\.")
ROWS = 9
"""The sentences of a check, with a public secret: two are about the key."""


class ForgedService:
    """A page of a game whose replay, receipt and key are what the test says."""

    def __init__(self, page: Page, game: Game) -> None:
        self.page = page
        self.game = game
        self.receipt = receipt_of(game)
        self.replay = replays.unpack(bytes(game.replay or b"")).decode()
        head = tree.head()
        assert head is not None
        self.key = head.key
        for address, name in (
            (f"**/api/v1/games/{game.pk}/receipt/", "receipt"),
            (f"**/api/v1/games/{game.pk}/replay/", "replay"),
            ("**/log/key", "key"),
        ):
            page.route(address, self._answer(name))

    def _answer(self, name: str) -> Any:
        def answer(route: Route) -> None:
            document = getattr(self, name)
            text = document.dump() if isinstance(document, Receipt) else document
            route.fulfill(body=text, content_type="text/plain; charset=utf-8")

        return answer

    def check(self) -> tuple[str, list[str]]:
        """Press the button; return the verdict and the rows that do not fit."""
        self.page.get_by_role("button", name="Check this game").click()
        verdict = self.page.locator("[data-check-game] output")
        expect(verdict).to_have_text(ENDED)
        rows = self.page.locator("[data-check-game] li.wrong").all_inner_texts()
        return verdict.inner_text(), rows


def with_texts(receipt: Receipt, **texts: str) -> Receipt:
    return replace(receipt, extra={**receipt.extra, **texts})


def forgeries(
    service: ForgedService, foreign: Receipt
) -> list[tuple[dict[str, Any], str]]:
    """Return changed documents, and what a reader is told about each of them."""
    path = [*service.receipt.proof]
    document = json.loads(service.replay)
    document["result"]["scores"][0] += 1
    raised = json.dumps(document)
    leaf = json.loads(service.receipt.extra["leaf"])
    leaf["data"]["scores"][0] += 1
    stranger = SigningKey.generate(service.key.partition("+")[0])
    forged_note = service.receipt.checkpoint.replace("\n", "\n1", 1)
    return [
        ({"replay": raised}, "The replay is the one that the log has"),
        ({"replay": raised}, "The log has the scores and ranks of the replay"),
        ({"receipt": foreign}, "is the end of this game"),
        (
            {"receipt": with_texts(service.receipt, leaf=json.dumps(leaf))},
            "is the end of this game",
        ),
        ({"receipt": replace(service.receipt, proof=path[:-1])}, "fewer hashes"),
        ({"receipt": replace(service.receipt, proof=[*path, *path])}, "more hashes"),
        ({"receipt": replace(service.receipt, index=10**9)}, "too small for its leaf"),
        (
            {"receipt": replace(service.receipt, checkpoint=forged_note)},
            "has not signed the receipt",
        ),
        ({"key": str(stranger.verifier)}, "has not signed the receipt"),
        (
            {"receipt": with_texts(service.receipt, plan=foreign.extra["plan"])},
            "dealt for this match",
        ),
        (
            {"receipt": with_texts(service.receipt, plan=foreign.extra["plan"])},
            "The uploads played",
        ),
        (
            {"receipt": with_texts(service.receipt, secret="00" * 32)},
            "that the service committed to",
        ),
        (
            {"receipt": with_texts(service.receipt, secret="00" * 32)},
            "follows from the secret",
        ),
        ({"receipt": with_texts(service.receipt, secret="no")}, "malformed number"),
        ({"receipt": "nothing"}, "The receipt cannot be read"),
        ({"replay": "{"}, "cannot be read"),
        ({"key": "x+y+AAAA"}, "The key of the log cannot be read"),
    ]


def test_a_game_is_checked_in_the_browser(
    page: Page, live_server: LiveServer, tmp_path: Path
) -> None:
    ladder = AuditedLadder(live_server.url, tmp_path / "audit")
    game, other = ladder.play(), ladder.play()
    page.goto(f"/games/{game.pk}/")

    page.get_by_role("button", name="Check this game").click()
    expect(page.locator("[data-check-game] output")).to_have_text(FITS)
    expect(page.locator("[data-check-game] li")).to_have_count(ROWS - 1)
    expect(page.locator("[data-check-game]")).to_contain_text("is not public yet")

    service = ForgedService(page, game)
    assert service.check() == (FITS, [])
    expect(page.locator("[data-check-game] li")).to_have_count(ROWS)
    honest = vars(service).copy()
    for changes, sentence in forgeries(service, receipt_of(other)):
        vars(service).update(honest)
        vars(service).update(changes)
        verdict, rows = service.check()
        assert verdict.startswith(WRONG), sentence
        assert [row for row in rows if sentence in row], (sentence, rows)

    vars(service).update(honest)
    page.evaluate("localStorage.setItem('torres-log-key', 'another+1+AAAA')")
    verdict, rows = service.check()
    assert (verdict.startswith(WRONG), len(rows)) == (True, 1)
    assert "saw at its first check" in rows[0]


def test_the_digest_of_a_replay_is_that_of_python(
    page: Page, live_server: LiveServer, tmp_path: Path
) -> None:
    game = AuditedLadder(live_server.url, tmp_path / "audit").play()
    document = json.loads(replays.unpack(bytes(game.replay or b"")))
    chosen = random.Random(1)
    floats = [1.0, 0.1, 1e-07, 1e22, -0.0, 12345678901234567890, 5e-324]
    floats += [chosen.random() * 10 ** chosen.randint(-20, 20) for _ in range(200)]
    words = ["\x7f", '\x1f\n\t"\\/', "é – 日本 🂡", "\ud800", "</script>", "\u2028"]
    odd = {**document, "floats": floats, "words": words, "é": None, "a": [True, {}]}
    odd["players"] = [{"name": "left out"}]
    page.goto(f"/games/{game.pk}/")

    digests = page.evaluate(
        """async ([module, texts]) => {
          const { readDocument, replayDigest } = await import(module);
          return Promise.all(texts.map((text) => replayDigest(readDocument(text))));
        }""",
        [static("web/receipt.js"), [json.dumps(document), json.dumps(odd, indent=1)]],
    )

    assert digests == [replay_digest(document), replay_digest(odd)]


def test_a_receipt_that_is_not_there_yet_is_explained(
    chromium: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    game = AuditedLadder(live_server.url, tmp_path / "audit").play()
    later = {"detail": "Ask again later."}
    with opened(chromium, live_server.url, refused=404) as page:
        page.goto(f"/games/{game.pk}/")
        page.route("**/receipt/", lambda route: route.fulfill(status=404, json=later))

        page.get_by_role("button", name="Check this game").click()

        rows = page.locator("[data-check-game] li")
        expect(rows).to_contain_text("Ask again later.")
