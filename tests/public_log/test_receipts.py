"""A receipt proves which decks a game had, also if its match shares a deal."""

import json
from dataclasses import replace

import pytest

from engine.replay import verify
from ladder.games import replays, services
from ladder.games.models import Game, Match
from ladder.public_log import issued_receipts
from ladder.public_log.keys import load_key
from tests.public_log.factories import advance, planned, planned_together, played
from torres.auditing import receipt_check
from torres.tlog.receipts import BadReceipt, Receipt, parse_receipt

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
]


def receipt_of(game: Game, **changes: str) -> Receipt:
    """Return the receipt of a game, with the secret of its decks and other texts."""
    receipt = parse_receipt(issued_receipts.of_game(game.pk))
    secret = load_key().batch_secret(game.match.batch_id or 0).hex()
    texts = {**receipt.extra, "secret": secret, **changes}
    return replace(receipt, extra=texts)


def problems(game: Game, **changes: str) -> list[str]:
    replay = json.loads(replays.unpack(bytes(game.replay or b"")))
    verify(replay)
    return list(receipt_check.check_game(receipt_of(game, **changes), replay))


def two_games() -> list[Game]:
    """Play the two matches of a shared deal."""
    matches: list[Match] = planned_together()
    advance()
    return [played(match) for match in matches]


def test_the_receipts_of_a_plain_game_and_of_a_shared_deal_fit() -> None:
    assert problems(played()) == []
    for game in two_games():
        assert problems(game) == []


def test_the_receipt_of_a_revived_game_has_the_leaf_that_asked_for_its_decks() -> None:
    match = planned()
    advance()
    game = match.games.get()
    Game.objects.filter(pk=game.pk).update(status="dead")
    assert services.revive(game.pk)
    played_after_all = played(match)
    assert "renewal" in receipt_of(played_after_all).extra
    assert problems(played_after_all) == []
    plan = receipt_of(played_after_all).extra["plan"]
    wrong = ["the receipt has another plan than the decks follow from"]
    assert problems(played_after_all, renewal=plan) == wrong


def test_another_plan_does_not_fit() -> None:
    first, second = two_games()
    plan = receipt_of(first).extra["plan"]
    other = receipt_of(second).extra["plan"]
    wrong = ["the receipt has another plan than the decks follow from"]
    assert problems(second, plan=plan) == wrong
    assert problems(second, deal_plan=other) == wrong
    assert problems(first, plan=other, deal_plan=plan) == wrong
    with pytest.raises(BadReceipt, match="deal_plan"):
        problems(second, deal_plan="")
