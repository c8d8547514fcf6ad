"""Hostile values in every field of every form, of the pages and of operators.

The forms are read from the pages themselves, so that a new form is tested, too.
"""

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from random import Random
from urllib.parse import urljoin, urlsplit

import pytest
from django.contrib.admin.sites import site
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import reverse

from ladder.accounts import tokens
from ladder.extras.editor.models import TrialGame
from ladder.extras.follows import services as follows
from ladder.extras.practice import services as practice
from ladder.extras.practice.models import PracticeGame
from ladder.extras.practice.services import PracticeTerms
from ladder.moderation.declaration import table
from ladder.tournaments.models import Entrant, Tournament
from tests.factories import Show
from tests.web.test_fuzz import MARKS, TEXTS

# The texts of test_fuzz.py break no date and no table of shares; these could.
MORE_TEXTS = ["2", "4", "1,2", '{"2": 1}', '{"2": "x"}', '{"2": 1e999}', "{" * 99]
MORE_TEXTS += ["[[]]", "2026-11-22", "23:59:59", "2026-11-22 23:59", "1e-400", "ana,b"]
ROUNDS = 1
SOAK_ROUNDS = 20


@dataclass
class Form:
    """A form of a page: its address, method, fields and the choices of its lists."""

    address: str
    method: str
    values: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    choices: dict[str, list[str]] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, tuple[str, ...]]:
        return self.address, self.method, tuple(sorted({*self.values, *self.files}))


class FormReader(HTMLParser):
    """Collects the forms of a page."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._address = address
        self._form: Form | None = None
        self._list = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            address = urljoin(self._address, given.get("action", ""))
            self._form = Form(address, given.get("method", "get").lower())
            self.forms.append(self._form)
        elif self._form and tag == "option" and self._list:
            self._form.choices[self._list].append(given.get("value", ""))
        elif self._form and given.get("name"):
            self._read_field(self._form, tag, given)

    def _read_field(self, form: Form, tag: str, given: dict[str, str]) -> None:
        name = given["name"]
        if given.get("type") == "file":
            form.files.append(name)
        elif tag in ("input", "textarea", "select", "button"):
            form.values.setdefault(name, given.get("value", ""))
        if tag == "select":
            self._list = name
            form.choices[name] = []

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None


def pages(show: Show) -> Iterator[str]:
    """Yield the pages that have forms."""
    bot = show.anas.bot.slug
    yield from ("/", "/me/", "/sign-in/", f"/bots/{bot}/", "/ladders/main/compare/")
    yield from ("/play/", *(f"/play/{game.pk}/" for game in PracticeGame.objects.all()))
    yield from ("/write/", *(f"/write/{row.pk}/" for row in TrialGame.objects.all()))
    yield from ("/ladders/main/challenge/", "/tournaments/cup/", "/ladders/main/")
    yield from (f"/submissions/{show.anas.pk}/", f"/submissions/{show.rejected.pk}/")
    yield from ("/sign-up/", "/confirm-email/", "/password-reset/")
    yield from ("/me/password/", "/me/email/", "/me/delete/")
    yield from (f"/follow/?bot={bot}", "/me/follows/")
    yield f"/unsubscribe/?key={follows.unsubscribe_key(1)}"
    yield from ("/organise/new/", "/organise/cup/", "/organise/cup/edit/")


def admin_pages() -> Iterator[str]:
    """Yield the pages of operators: lists and one object each, and all acts."""
    yield from ("/admin/", "/admin/password_change/", "/operate/")
    yield from (reverse("operate-act", args=[act]) for act in table())
    for model in site._registry:
        app, name = model._meta.app_label, model._meta.model_name
        yield reverse(f"admin:{app}_{name}_changelist")
        if row := model._default_manager.order_by("-pk").first():
            yield reverse(f"admin:{app}_{name}_change", args=[row.pk])


class FormFuzzer:
    """Sends each form of some pages as one person, field by field."""

    def __init__(self, person: User | None, seed: int) -> None:
        self.rng = Random(seed)
        self.person = person
        self.failures: list[str] = []
        self.sent = 0
        self.fields = 0

    def client(self) -> Client:
        client = Client(raise_request_exception=False)
        if self.person is not None:
            client.force_login(self.person)
        return client

    def forms(self, addresses: list[str]) -> list[Form]:
        forms: dict[object, Form] = {}
        for address in addresses:
            response = self.client().get(address)
            self.check("get", address, {}, response)
            if response.status_code == 200:
                reader = FormReader(address)
                reader.feed(response.content.decode())
                forms |= {form.key: form for form in reader.forms}
        return list(forms.values())

    def run(self, addresses: list[str], rounds: int) -> None:
        for form in self.forms(addresses):
            names = [*form.values, *form.files]
            self.fields += len(names)
            for _ in range(rounds):
                for name in names:
                    self.send(form, {name})
                self.send(form, set(names))

    def send(self, form: Form, hostile: set[str]) -> None:
        data: dict[str, object] = {
            name: self.text(form, name) if name in hostile else value
            for name, value in form.values.items()
        }
        for name in form.files:
            content = self.clean(self.rng.choice(TEXTS)).encode()
            file_name = self.clean(self.rng.choice(TEXTS))[:300] or "bot.py"
            file = io.BytesIO(content or b"\0")
            file.name = file_name  # also "..", which Django's own classes refuse
            data[name] = file
        shown = {name: str(value)[:80] for name, value in data.items()}
        with transaction.atomic():
            client = self.client()
            call = client.post if form.method == "post" else client.get
            response = call(form.address, data)
            transaction.set_rollback(True)  # the next form needs the same rows
        self.check(form.method, form.address, shown, response)

    def text(self, form: Form, name: str) -> str:
        if form.choices.get(name) and self.rng.random() < 0.3:
            return self.rng.choice(form.choices[name])
        return self.clean(self.rng.choice(TEXTS + MORE_TEXTS))

    @staticmethod
    def clean(text: str) -> str:
        return text.encode("utf-8", "replace").decode()

    def check(self, method: str, address: str, data: dict, response: object) -> None:
        self.sent += 1
        content = b"" if response.streaming else response.content
        if response.status_code >= 500 or any(mark in content for mark in MARKS):
            path = urlsplit(address).path
            self.failures.append(f"{response.status_code} {method} {path} {data}")


def fuzz(show: Show, settings: object, seed: int, rounds: int) -> None:
    settings.TORRES_RATES = dict.fromkeys(settings.TORRES_RATES, 10**6)
    settings.TORRES_SIGN_UP = "invitation"
    settings.TORRES_SENDS_MAIL = True
    cup = Tournament.objects.create(slug="cup", name="Cup", limits={})
    Entrant.objects.create(tournament=cup, bot=show.bens.bot, submission=show.bens)
    tokens.token_for("olga")
    olga = User.objects.get(username="olga")
    User.objects.filter(pk=olga.pk).update(is_staff=True, is_superuser=True)
    olga.refresh_from_db()
    ana = User.objects.get(username="ana")
    game = practice.begin(ana, PracticeTerms("yucata", [show.anas.pk], 0))
    PracticeGame.objects.filter(pk=game.pk).update(status="running", ply=0)
    TrialGame.objects.create(owner=ana, opponent=show.anas.bot, seat=0)
    people = [None, User.objects.get(username="ana"), olga]
    fuzzers = [FormFuzzer(person, seed + k) for k, person in enumerate(people)]

    for fuzzer in fuzzers:
        fuzzer.run(list(pages(show)), rounds)
    fuzzers[-1].run(list(admin_pages()), rounds)

    failures = [failure for fuzzer in fuzzers for failure in fuzzer.failures]
    print([(fuzzer.fields, fuzzer.sent) for fuzzer in fuzzers])
    assert not failures, "\n\n".join(sorted(set(failures))[:8])
    for fuzzer, fewest in zip(fuzzers, (5, 15, 100), strict=True):
        assert fuzzer.fields >= fewest


@pytest.mark.deep
def test_hostile_values_in_every_field_of_every_form(show: Show, settings) -> None:
    fuzz(show, settings, 20_261_122, ROUNDS)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3))
def test_many_hostile_values_in_every_field(show: Show, settings, seed: int) -> None:
    number = 100 * seed + int(os.environ.get("TESTS_FUZZ_SEED", "0"))
    fuzz(show, settings, number, SOAK_ROUNDS)
