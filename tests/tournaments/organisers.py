"""An organiser who works through one entrance: REST, the forms, or a file.

Each entrance offers the same acts, so that one test can go through all of them. Two
more entrances create tournaments only: the admin, and `torres tournament` at home.
"""

import html
import io
import json
import tomllib
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from rest_framework.test import APIClient

from ladder.accounts import roles, scopes, tokens
from ladder.bots.models import Bot
from ladder.tournaments.description import DATES
from ladder.tournaments.models import Tournament, default_limits
from torres.cli.tournament import tournament as torres_tournament
from torres.runner.limits import MAX_LIMITS

ADMIN_FIELDS = ("name", "slug", "ruleset")
UNKNOWN_KEY = 10**6


class Refused(Exception):
    """The entrance refused an act, clearly; the text is what a person reads."""


def organiser(name: str = "oscar") -> User:
    user = User.objects.get_or_create(username=name)[0]
    roles.add_organiser(user)
    return user


def client_of(name: str) -> APIClient:
    client = APIClient(raise_request_exception=False)
    token = tokens.token_for(name, scopes=scopes.ALL)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


class RestEntrance:
    """Sends JSON to the API."""

    def __init__(self, folder: Path) -> None:
        self.client = client_of(organiser().username)

    def send(self, method: str, path: str, body: object = None) -> Any:
        answer = getattr(self.client, method)(f"/api/v1/{path}", body, format="json")
        if 400 <= answer.status_code < 500:
            assert answer["Content-Type"] == "application/problem+json"
            raise Refused(f"{answer.status_code} {answer.json()['detail']}")
        assert answer.status_code < 400, (answer.status_code, answer.content[:2000])
        return answer.json()

    def preview(self, document: dict[str, Any]) -> str:
        return str(self.send("post", "tournaments/preview/", document))

    def create(self, document: dict[str, Any]) -> Tournament:
        answer = self.send("post", "tournaments/", document)
        return Tournament.objects.get(slug=answer["slug"])

    def enter(self, tournament: Tournament, bot: str) -> None:
        path = f"tournaments/{tournament.slug}/entrants/"
        self.send("post", path, {"bot": bot})

    def step(self, tournament: Tournament, step: str, why: str = "") -> None:
        path = f"tournaments/{tournament.slug}/{step}/"
        self.send("post", path, {"why": why} if why else {})


class FileEntrance(RestEntrance):
    """Creates tournaments with `manage.py tournament FILE`; the steps go by REST."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder

    def run(self, document: dict[str, Any], *options: str) -> str:
        file = self.folder / "tournament.toml"
        file.write_text(toml(document), encoding="utf-8", errors="surrogatepass")
        output = io.StringIO()
        try:
            call_command(
                "tournament", file, "--organiser", "oscar", *options, stdout=output
            )
        except CommandError as error:
            raise Refused(str(error)) from error
        return output.getvalue()

    def preview(self, document: dict[str, Any]) -> str:
        return self.run(document, "--dry-run")

    def create(self, document: dict[str, Any]) -> Tournament:
        self.run(document)
        return Tournament.objects.latest("pk")


def toml(document: dict[str, Any]) -> str:
    """Return a document as TOML: the tables come last."""
    plain = {k: v for k, v in document.items() if not isinstance(v, dict)}
    tables = {k: v for k, v in document.items() if isinstance(v, dict)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for name, table in tables.items():
        lines.append(f"[{_key(name)}]")
        lines += [f"{_key(key)} = {_value(value)}" for key, value in table.items()]
    text = "\n".join(lines) + "\n"
    assert tomllib.loads(text) is not None
    return text


def _key(key: str) -> str:
    return _value(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(_value(each) for each in value)}]"
    if isinstance(value, dict):
        pairs = (f"{_key(key)} = {_value(each)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + text.replace("\0", "\\u0000").replace("\n", "\\n") + '"'


class HomeEntrance:
    """Plays the file with `torres tournament`, in this process."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "cup.toml"

    def create(self, document: dict[str, Any]) -> None:
        entrants = {"entrants": ["house:greedy", "house:random"]}
        text = toml(entrants | document)
        self.file.write_text(text, encoding="utf-8", errors="surrogatepass")
        done = CliRunner().invoke(torres_tournament, [str(self.file)])
        if done.exit_code == 2:
            raise Refused(done.output)
        assert done.exit_code == 0, done.exception


class AdminEntrance:
    """Fills in the forms of the admin: the row itself, and each of its entrants."""

    def __init__(self, folder: Path) -> None:
        self.client = Client(raise_request_exception=False)
        self.client.force_login(User.objects.create_superuser("olga"))

    def create(self, document: dict[str, Any]) -> Tournament:
        fields = admin_fields(document)
        self.send("/admin/tournaments/tournament/add/", fields)
        row = Tournament.objects.get(slug=fields["slug"])
        for name in document.get("entrants", ()):
            bot = Bot.objects.filter(slug=name).first()
            key = bot.pk if bot else UNKNOWN_KEY
            fields = {"tournament": str(row.pk), "bot": str(key), "seed": ""}
            Tournament.objects.filter(pk=row.pk).update(status="entry")
            self.send("/admin/tournaments/entrant/add/", fields)
        return row

    def send(self, address: str, fields: dict[str, str]) -> None:
        answer = self.client.post(address, fields)
        assert answer.status_code < 500, (answer.status_code, answer.content[:2000])
        if answer.status_code == 302:
            return
        errors = answer.context["adminform"].form.errors
        lines = [f"{name}: {'; '.join(texts)}" for name, texts in errors.items()]
        page = html.unescape(answer.content.decode())
        assert all(text in page for texts in errors.values() for text in texts)
        raise Refused("\n".join(lines))


def admin_fields(document: dict[str, Any]) -> dict[str, str]:
    """Return the fields of the admin's form that a document means."""
    values = dict(document)
    values.pop("entrants", None)
    limits = values.pop("limits", {})
    fields = {"name": "Cup", "slug": "cup", "ruleset": "yucata"}
    fields |= {name: values.pop(name) for name in ADMIN_FIELDS if name in values}
    fields["switches"] = json.dumps(values.pop("switches", {}))
    if isinstance(limits, dict):
        limits = default_limits() | limits
    fields["limits"] = json.dumps(limits)
    for name in DATES:
        day, _, hour = str(values.pop(name, "")).partition("T")
        fields |= {f"{name}_0": day, f"{name}_1": hour.removesuffix("Z")}
    if "seeding" in values:
        values.pop("seeding")
        fields["seeding"] = str(UNKNOWN_KEY)
    fields["config"] = json.dumps(values)
    return fields


class PageEntrance:
    """Sends the forms of the pages, as a browser without scripts does."""

    def __init__(self, folder: Path) -> None:
        self.client = Client(raise_request_exception=False)
        self.client.force_login(organiser())

    def send(self, address: str, fields: dict[str, Any]) -> Any:
        answer = self.client.post(address, fields, follow=True)
        assert answer.status_code < 500, (answer.status_code, answer.content[:2000])
        form = answer.context.get("form")
        if form is not None and form.errors:
            lines = [f"{name}: {'; '.join(each)}" for name, each in form.errors.items()]
            raise Refused(f"{answer.status_code} {' '.join(lines)}")
        for message in answer.context.get("messages", ()):
            if message.tags == "error":
                raise Refused(f"{answer.status_code} {message}")
        assert answer.status_code == 200, answer.content[:2000]
        return answer

    def preview(self, document: dict[str, Any]) -> str:
        fields = form_fields(self.client, document) | {"act": "preview"}
        answer = self.send("/organise/new/", fields)
        return " ".join(answer.context["preview"].lines())

    def create(self, document: dict[str, Any]) -> Tournament:
        fields = form_fields(self.client, document) | {"act": "create"}
        answer = self.send("/organise/new/", fields)
        slug = answer.request["PATH_INFO"].split("/")[2]
        return Tournament.objects.get(slug=slug)

    def enter(self, tournament: Tournament, bot: str) -> None:
        self.send(f"/organise/{tournament.slug}/entrants/", {"bot": bot, "seed": ""})

    def step(self, tournament: Tournament, step: str, why: str = "") -> None:
        self.send(f"/organise/{tournament.slug}/{step}/", {"why": why})


def form_fields(client: Client, document: dict[str, Any]) -> dict[str, str]:
    """Return the fields that a browser sends after a person has filled in the form."""
    form = client.get("/organise/new/").context["form"]
    fields = {name: form[name].value() for name in form.fields}
    for key, value in document.items():
        if key == "limits":
            fields |= value
        elif key == "switches":
            fields[key] = "\n".join(
                f"{_key(k)} = {_value(v)}" for k, v in value.items()
            )
        elif isinstance(value, list):
            fields[key] = ", ".join(str(each) for each in value)
        else:
            fields[key] = value
    assert set(document.get("limits", {})) <= set(MAX_LIMITS)
    sent = {name: str(value) for name, value in fields.items() if value is not None}
    return {name: value for name, value in sent.items() if value != "False"}
