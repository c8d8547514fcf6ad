"""An organiser who works through one entrance: REST, the forms, or a file.

Each entrance offers the same acts, so that one test can go through all of them. One
more entrance creates tournaments only: `torres tournament` at home.
"""

import io
import tomllib
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from rest_framework.test import APIClient

from ladder.accounts import roles, scopes, tokens
from ladder.tournaments.models import Tournament
from torres.cli.tournament import tournament as torres_tournament
from torres.runner.limits import MAX_LIMITS


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
