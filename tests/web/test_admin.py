"""The admin: every list and every row opens, and nothing changes a row."""

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from ladder.accounts import invitations, tokens
from ladder.accounts.models import ApiToken
from ladder.common import admin as lists
from ladder.extras.analysis.models import Analysis, SeatReview
from ladder.extras.editor.models import TrialGame
from ladder.extras.practice import services as practice
from ladder.extras.practice.models import PracticeGame
from ladder.extras.practice.services import PracticeTerms
from ladder.extras.spot_checks.models import SpotCheck
from ladder.extras.webhooks.models import Webhook
from ladder.games.models import Attempt
from ladder.moderation.models import AuditEntry, StoppedUnit
from ladder.ratings.models import Challenge, Checkpoint
from ladder.tournaments.models import Entrant, Fixture, Tournament
from tests.comparisons.factories import undecided
from tests.factories import Show

admin.autodiscover()
MODELS = list(admin.site._registry)


@pytest.fixture
def operator(show: Show) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("olga"))
    return client


@pytest.fixture
def full(show: Show) -> Show:
    """At least one row of every model that the admin shows."""
    tokens.token_for("ana")
    invitations.new_invitation(None, note="<script>alert(1)</script>")
    ladder, match = show.season.ladder, show.waiting
    Challenge.objects.create(match=match, ladder=ladder, by=show.anas.bot.owner)
    Checkpoint.objects.create(season=show.season, seq=1, state={})
    AuditEntry.objects.create(kind="bench", target="bot a", why="five forfeits")
    StoppedUnit.objects.create(kind="tournament", name="cup", error="config: wrong")
    cup = Tournament.objects.create(slug="cup", name="Cup", limits={})
    Entrant.objects.create(tournament=cup, bot=show.anas.bot, seed=1)
    Fixture.objects.create(tournament=cup, round=1, table=0, match=match)
    Group.objects.create(name="operators")
    undecided(show)
    owner = show.anas.bot.owner
    url = "http://x/<script>alert(1)</script>"
    Webhook.objects.create(user=owner, url=url, salt="a salt of ana")
    practice.begin(show.anas.bot.owner, PracticeTerms("yucata", [show.anas.pk], 0))
    analysis = Analysis.objects.create(game=match.games.get(), key="", by=owner)
    SeatReview.objects.create(analysis=analysis, seat=0, bot=show.anas.bot, turns=[])
    TrialGame.objects.create(
        owner=owner, source="secret = 42", opponent=show.anas.bot, seat=0
    )
    SpotCheck.objects.create(
        game=show.game, seat=0, submission=show.anas, replay=b"", played_on="a:/b"
    )
    return show


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_page_of_every_model_opens(operator: Client, full, model) -> None:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    row = model.objects.order_by("pk").first()
    pages = [
        operator.get(reverse(f"{name}_changelist")),
        operator.get(reverse(f"{name}_changelist"), {"q": "1"}),
        operator.get(reverse(f"{name}_change", args=[row.pk])),
        operator.get(reverse(f"{name}_history", args=[row.pk])),
    ]

    for page in pages:
        assert page.status_code == 200
        assert b"<script>alert" not in page.content
    action = {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"}
    operator.post(reverse(f"{name}_changelist"), action)
    for page in ("add", "change", "delete"):
        keys = [] if page == "add" else [row.pk]
        answer = operator.post(reverse(f"{name}_{page}", args=keys), {"post": "yes"})
        assert answer.status_code == 403
    assert model.objects.order_by("pk").first() == row


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_filter_of_every_list_works(operator: Client, full, model) -> None:
    address = reverse(
        f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
    )
    listed = operator.get(address).context["cl"]

    for spec in listed.filter_specs:
        for choice in spec.choices(listed):
            query = choice["query_string"]
            assert operator.get(address + query).status_code == 200, query


@pytest.mark.parametrize(
    "model",
    [m for m in MODELS if m.__module__.startswith("ladder")],
    ids=lambda model: model.__name__,
)
def test_plurals_are_english(model) -> None:
    """Django only adds an s to the singular, which is wrong for some words."""
    plural = str(model._meta.verbose_name_plural)

    assert not re.search(r"(ch|sh|[sxz]|[^aeiou]y)s$", plural)


def test_a_user_who_is_not_an_operator_is_redirected(visit, show: Show) -> None:
    assert visit("ana").get("/admin/").status_code == 302


def test_no_secret_of_a_row_is_shown(operator: Client, full: Show) -> None:
    owner = full.anas.bot.owner
    assert owner is not None
    owner.set_password("a long password")
    owner.save()
    token, game = ApiToken.objects.first(), PracticeGame.objects.get()
    assert token is not None
    hook = Webhook.objects.get()
    for row, secret in (
        (full.waiting, full.waiting.seed),
        (token, token.digest),
        (owner, owner.password),
        (game, game.seed),
        (TrialGame.objects.get(), "secret = 42"),
        (hook, hook.salt),
    ):
        name = f"{row._meta.app_label}_{row._meta.model_name}"
        page = operator.get(reverse(f"admin:{name}_change", args=[row.pk]))
        assert page.status_code == 200
        assert secret not in page.content.decode()


def found(client: Client, name: str, **query: str) -> list[int]:
    """Return the primary keys that a list shows."""
    page = client.get(reverse(f"admin:{name}_changelist"), query)
    return sorted(row.pk for row in page.context["cl"].result_list)


def test_a_search_for_a_number_finds_rows_by_their_keys(
    operator: Client, show: Show
) -> None:
    game, other = show.game, show.waiting.games.get()
    assert found(operator, "games_game", q=str(game.pk)) == [game.pk]
    assert found(operator, "games_match", q=str(show.match.pk)) == [show.match.pk]
    assert found(operator, "games_match", q="x") == []
    assert found(operator, "games_attempt", q=str(game.pk)) == [
        game.attempts.get().pk,
    ]
    pairing = show.match.pairing
    assert found(operator, "ratings_pairing", q=str(show.match.pk)) == [pairing.pk]
    entry = game.entries.get()
    assert entry.pk in found(operator, "ratings_entry", q=str(entry.seq))
    assert entry.pk in found(operator, "ratings_entry", q=str(game.pk))
    assert found(operator, "games_game", q="9" * 30) == []
    assert other.pk not in found(operator, "games_game", q=str(game.pk))


def test_a_search_for_a_bot_finds_its_games(operator: Client, show: Show) -> None:
    both = sorted([show.game.pk, show.waiting.games.get().pk])
    assert found(operator, "games_game", q="grendel") == both
    assert found(operator, "games_game", q="rende") == both
    assert found(operator, "games_game", q="nobody") == []


def test_the_games_with_a_failed_attempt_can_be_listed(
    operator: Client, show: Show
) -> None:
    Attempt.objects.filter(game=show.game).update(outcome="failed", reason="no disk")

    assert found(operator, "games_game", failed="yes") == [show.game.pk]
    assert len(found(operator, "games_attempt", q="disk")) == 1
    assert found(operator, "games_attempt", q="lost") == []


def test_a_list_counts_only_some_rows(
    operator: Client, show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "MAX_COUNTED_ROWS", 1)

    page = operator.get(reverse("admin:games_game_changelist"))

    assert page.context["cl"].result_count == 1


def test_a_list_of_tournaments_says_why_one_is_stopped(
    operator: Client, full: Show
) -> None:
    page = operator.get(reverse("admin:tournaments_tournament_changelist"))

    assert "config: wrong" in page.content.decode()


def test_a_list_refuses_a_filter_that_postgresql_cannot_compare(
    operator: Client,
) -> None:
    for model in MODELS:
        meta = model._meta
        address = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
        answer = operator.get(address, {"status": "\0"}, follow=True)

        assert answer.redirect_chain == [(address, 302)]
        assert "a character that no row has" in answer.content.decode()


def test_a_search_for_thousands_of_digits_finds_nothing(operator: Client) -> None:
    page = operator.get("/admin/games/game/", {"q": "9" * 5000})

    assert page.status_code == 200
