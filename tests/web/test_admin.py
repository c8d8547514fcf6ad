"""The admin: every list and every row opens, and the actions work."""

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from ladder.accounts import invitations, tokens
from ladder.accounts.models import ApiToken
from ladder.bots.models import Bot, Submission
from ladder.common import admin as lists
from ladder.extras.analysis.models import Analysis
from ladder.extras.practice import services as practice
from ladder.extras.practice.models import PracticeGame
from ladder.extras.practice.services import PracticeTerms
from ladder.extras.webhooks.models import Webhook
from ladder.games.models import Attempt, Game
from ladder.moderation.models import AuditEntry, StoppedUnit
from ladder.ratings.models import Challenge, Checkpoint, Membership
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


def act(client: Client, name: str, action: str, *rows: int):
    data = {"action": action, "_selected_action": rows}
    return client.post(reverse(f"admin:{name}_changelist"), data, follow=True)


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
    Webhook.objects.create(user=owner, url="http://x/<script>alert(1)</script>")
    practice.begin(show.anas.bot.owner, PracticeTerms("yucata", [show.anas.pk], 0))
    Analysis.objects.create(game=match.games.get(), key="", by=owner)
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
    may = admin.site._registry[model].has_add_permission(pages[0].wsgi_request)
    assert operator.get(reverse(f"{name}_add")).status_code == (200 if may else 403)


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


def test_an_operator_bans_and_lets_play_again(operator: Client, show: Show) -> None:
    bot = show.bens.bot

    act(operator, "bots_bot", "ban", bot.pk)
    assert Bot.objects.get(pk=bot.pk).status == "banned"
    act(operator, "bots_bot", "let_play", bot.pk)
    assert Bot.objects.get(pk=bot.pk).status == "active"


def test_an_operator_has_an_upload_validated_again(
    operator: Client, show: Show
) -> None:
    act(operator, "bots_submission", "try_again", show.rejected.pk)

    assert Submission.objects.get(pk=show.rejected.pk).status == "uploaded"


def test_an_operator_voids_a_game_and_one_replaces_it(
    operator: Client, show: Show
) -> None:
    game = show.game
    act(operator, "games_game", "void_and_play_again", game.pk)

    game.refresh_from_db()
    assert game.status == "voided"
    assert Game.objects.get(replaces=game).status == "scheduled"
    entry = AuditEntry.objects.get()
    assert (entry.kind, entry.target) == ("void", f"game {game.pk}")
    assert entry.by is not None
    assert entry.by.username == "olga"


def test_an_operator_cancels_only_scheduled_games(operator: Client, show: Show) -> None:
    waiting, done = show.waiting.games.get(), show.game
    page = act(operator, "games_game", "cancel", waiting.pk, done.pk)

    waiting.refresh_from_db()
    assert waiting.status == "cancelled"
    assert f"ame {done.pk}: cannot be cancelled" in page.content.decode()


def test_the_ledger_cannot_be_changed_in_the_admin(operator: Client) -> None:
    assert operator.get("/admin/ratings/entry/add/").status_code == 403


def test_the_slug_of_a_ladder_is_chosen_once(operator: Client, show: Show) -> None:
    ladder = show.season.ladder

    change = operator.get(f"/admin/ratings/ladder/{ladder.pk}/change/")
    add = operator.get("/admin/ratings/ladder/add/")

    assert 'name="slug"' not in change.content.decode()
    assert 'name="slug"' in add.content.decode()


def test_neither_seeds_nor_digests_of_tokens_are_shown(
    operator: Client, show: Show, visit
) -> None:
    visit("ana")
    token = ApiToken.objects.first()
    pages = [
        operator.get(f"/admin/games/match/{show.waiting.pk}/change/"),
        operator.get(f"/admin/accounts/apitoken/{token.pk}/change/"),
    ]

    assert [page.status_code for page in pages] == [200, 200]
    assert token.prefix in pages[1].content.decode()
    assert show.waiting.seed not in pages[0].content.decode()
    assert token.digest not in pages[1].content.decode()


def test_operators_remove_a_bot_from_a_ladder_and_admit_it(
    operator: Client, show: Show
) -> None:
    row = Membership.objects.get(bot=show.anas.bot)

    act(operator, "ratings_membership", "remove", row.pk)
    row.refresh_from_db()
    assert row.status == "removed"
    act(operator, "ratings_membership", "admit", row.pk)
    row.refresh_from_db()
    assert row.status == "active"

    entries = AuditEntry.objects.order_by("pk").values_list("kind", "by__username")
    assert list(entries) == [("leave", "olga"), ("join", "olga")]


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


@pytest.mark.parametrize("key", [str(2**63), "9" * 30, "9" * 5000, f"-{2**63}", "x"])
@pytest.mark.parametrize("model", [User, Group], ids=["user", "group"])
def test_a_key_that_no_row_has_is_refused(operator: Client, model, key: str) -> None:
    """The database failed with numbers that it cannot store."""
    field = "user_permissions" if model is User else "permissions"
    Group.objects.create(name="helpers")
    row = model.objects.earliest("pk")
    address = reverse(f"admin:auth_{model._meta.model_name}_change", args=[row.pk])
    page = operator.post(address, {field: key})

    assert page.status_code == 200
    assert field in page.context["adminform"].form.errors


@pytest.mark.parametrize("key", ["\x00", "\x1b[31m", "", "9" * 30, "9" * 5000])
def test_an_action_refuses_a_row_without_a_valid_key(
    operator: Client, full, key: str
) -> None:
    for model in MODELS:
        meta = model._meta
        address = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
        request = operator.get(address).wsgi_request
        for action in admin.site._registry[model].get_actions(request):
            form = {"action": action, "index": "0", "_selected_action": key}
            answer = operator.post(address, form, follow=True)

            assert answer.status_code == 200
            assert "no valid key" in answer.content.decode()


def test_a_list_refuses_a_filter_that_postgresql_cannot_compare(
    operator: Client,
) -> None:
    for model in MODELS:
        meta = model._meta
        address = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
        answer = operator.get(address, {"status": "\0"}, follow=True)

        assert answer.redirect_chain == [(address, 302)]
        assert "a character that no row has" in answer.content.decode()


@pytest.mark.parametrize("field", ["switches", "tables", "limits"])
def test_a_document_with_thousands_of_digits_is_refused(
    operator: Client, show: Show, field: str
) -> None:
    address = reverse("admin:ratings_ladder_change", args=[show.season.ladder_id])
    page = operator.post(address, {"name": "Main ladder", field: "9" * 5000})

    assert page.status_code == 200
    assert "too many digits" in str(page.context["adminform"].form.errors[field])


@pytest.mark.parametrize("key", ["9" * 30, "9" * 5000])
def test_an_entrant_needs_a_bot_that_exists(operator: Client, key: str) -> None:
    form = {"tournament": key, "bot": key, "seed": ""}
    page = operator.post(reverse("admin:tournaments_entrant_add"), form)

    assert page.status_code == 200
    assert {"tournament", "bot"} <= set(page.context["adminform"].form.errors)


def test_a_search_for_thousands_of_digits_finds_nothing(operator: Client) -> None:
    page = operator.get("/admin/games/game/", {"q": "9" * 5000})

    assert page.status_code == 200


def test_an_operator_ends_a_game_by_hand_and_sees_no_seed(
    operator: Client, full: Show
) -> None:
    game = PracticeGame.objects.get()
    page = operator.get(reverse("admin:practice_practicegame_change", args=[game.pk]))
    assert game.seed not in page.content.decode()

    answer = act(operator, "practice_practicegame", "end", game.pk)

    assert b"Ended: 1" in answer.content
    game.refresh_from_db()
    assert game.status == "failed"
    assert "operator" in game.note
