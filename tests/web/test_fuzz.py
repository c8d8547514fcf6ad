"""Hostile requests to every route, as everybody: none may make the service fail.

The requests are drawn from a seeded generator. `make soak` sends 20 times as many.
"""

import base64
import json
import os
from collections.abc import Iterator
from functools import partial
from random import Random
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from ladder.accounts import tokens
from ladder.bots.models import Bot, Submission
from ladder.games.models import Game, Match
from ladder.tournaments.models import Tournament
from tests.comparisons.factories import undecided
from tests.factories import Show

PEOPLE = ("nobody", "ana", "cleo", "olga")  # anonymous, an owner, a stranger, operator
MARKS = (b"Traceback", b"OperationalError", b'File "/')
METHODS = ("post", "post", "post", "put", "patch", "delete", "options", "head")

TEXTS = [
    *("", " ", "0", "1", "-1", "00", "1e9", "NaN", "null", "true", "٣", "²", "0x1f"),
    *(str(2**31), str(2**63), str(-(2**63) - 1), "9" * 30, "9" * 5000),
    *("a\0b", "\0", "\ud800", "\udcff", "\r\nX-Evil: 1", "a\nb", "\x1b[31m", "\u202e"),
    *("../../etc/passwd", "..", "%2e%2e", "//evil.example/", "http://evil.example"),
    *("'", '"', "' OR 1=1 --", "%", "_", "{{ 7 }}", "{% debug %}", "<script>", "${x}"),
    *(
        "grendel",
        "main",
        "ana",
        "house-greedy",
        "x" * 3000,
        "é" * 200,
        "e" + "\u0301" * 60,
    ),
    *("2020-13-45", "9999-12-31T23:59:60Z", "0001-01-01", "infinity", "[]", "{}", "[1"),
]
NAMES = [
    *(
        "bot",
        "other",
        "owner",
        "status",
        "name",
        "house",
        "q",
        "kind",
        "ladder",
        "page",
    ),
    *("season", "seats", "before", "limit", "cursor", "offset", "next", "format", "id"),
    *(
        "version",
        "lang",
        "search",
        "since",
        "until",
        "ruleset",
        "one",
        "round",
        "o",
        "p",
    ),
    *("tournament", "_popup", "_changelist_filters", "e", "all", "archive", "token"),
    *("username", "password", "two", "three", "seat", "action", "_selected_action"),
    *("language", "number", "rank", "around", "created_after", "game", "match", "a[b]"),
    *("opponent", "result", "forfeit", "submission", "from", "to", "ordering", "at"),
]
HEADERS = [
    *("Accept", "Accept-Language", "Content-Type", "Cookie", "If-None-Match", "Range"),
    *("If-Modified-Since", "X-Forwarded-For", "X-Forwarded-Proto", "Referer", "Origin"),
    *("X-Requested-With", "Authorization", "Host", "X-Http-Method-Override"),
]
JSON_BODIES = [
    *("", "{", "[]", "null", "1", '"x"', "[" * 60_000, '{"a":' * 12_000, "NaN"),
    *('{"name": ' + "9" * 6000 + "}", "\ufeff{}", '{"name": "\\ud800"}', "1e999"),
]


def routes(resolver: URLResolver, prefix: str = "") -> Iterator[tuple[str, dict]]:
    """Yield the route of each URL pattern, with the converters of its arguments."""
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern).removeprefix("^").removesuffix("$")
        if isinstance(pattern, URLResolver):
            yield from routes(pattern, route)
        elif isinstance(pattern, URLPattern):
            yield route.replace("\\Z", ""), pattern.pattern.converters


class Fuzzer:
    def __init__(self, show: Show, seed: int) -> None:
        self.rng = Random(seed)
        self.routes = sorted(routes(get_resolver()), key=lambda pair: pair[0])
        self.values = {
            "slug": [*Bot.objects.values_list("slug", flat=True), "main", "cup"],
            "pk": [
                str(pk)
                for model in (Game, Match, Submission)
                for pk in model.objects.values_list("pk", flat=True)
            ],
        }
        self.clients = {name: self._client(name) for name in PEOPLE}
        self.token = tokens.token_for("ana")

    @staticmethod
    def _client(name: str) -> Client:
        client = Client(raise_request_exception=False)
        if name == "olga":
            client.force_login(User.objects.create_superuser(name))
        elif name != "nobody":
            client.post("/sign-in/", {"token": tokens.token_for(name)})
        return client

    def text(self) -> str:
        if self.rng.random() < 0.15:
            return self.cursor()
        if self.rng.random() < 0.15:
            return "".join(chr(self.rng.randrange(0x300)) for _ in range(8))
        return self.rng.choice(TEXTS)

    def cursor(self) -> str:
        position = self.rng.choice(TEXTS)[:200].encode(errors="replace")
        form = self.rng.choice([b"p=%s", b"r=1&p=%s", b"o=%s", b"o=5&p=%s", b"%s"])
        return base64.b64encode(form % position).decode()

    def path(self) -> str:
        route, converters = self.rng.choice(self.routes)
        for name in converters:
            known = self.values.get("pk" if "id" in name or name == "pk" else name)
            value = self.rng.choice(known or TEXTS)
            if self.rng.random() < 0.2:
                value = self.text()
            kind = type(converters[name]).__name__
            route = (
                next(
                    route.replace(f"<{prefix}{name}>", value)
                    for prefix in ("", "int:", "slug:", "path:", "str:", "uuid:")
                    if f"<{prefix}{name}>" in route
                )
                if f"{name}>" in route
                else route + kind
            )
        return "/" + urlencode({"": route}, errors="replace")[1:].replace("%2F", "/")

    def query(self) -> dict[str, str]:
        names = self.rng.sample(NAMES, self.rng.choice([0, 1, 1, 1, 2, 3]))
        return {name: self.text() for name in names}

    def headers(self) -> dict[str, str]:
        names = self.rng.sample(HEADERS, self.rng.choice([0, 0, 1, 2]))
        # A web server refuses control characters, and reads the rest as Latin-1.
        chosen = {name: self.text().encode("utf-8", "replace") for name in names}
        clean = {
            name: "".join(c for c in value.decode("latin-1") if c.isprintable())
            for name, value in chosen.items()
        }
        if self.rng.random() < 0.4:
            clean["Authorization"] = f"Bearer {self.token}"
        return clean

    def form(self) -> dict[str, object]:
        return {name: self.clean() for name in self.rng.sample(NAMES, 4)}

    def clean(self) -> str:
        return self.text().encode("utf-8", "replace").decode()

    def body(self) -> dict[str, object]:
        kind = self.rng.randrange(5)
        if kind == 0:
            body: object = self.rng.choice(JSON_BODIES).encode("utf-8", "replace")
        elif kind == 1:
            values: list[object] = [
                self.text(),
                [self.text()],
                {"a": {}},
                None,
                10**400,
            ]
            pairs = {
                name: self.rng.choice(values) for name in self.rng.sample(NAMES, 4)
            }
            body = json.dumps(pairs).encode()
        elif kind == 2:
            return {"data": self.form()}
        elif kind == 3:
            parts = [b"--x", b"Content-Disposition: form-data; name=archive; filename="]
            parts[1] += self.clean().encode()
            body = b"\r\n".join([*parts, b"", self.clean().encode(), b"--x--", b""])
            return {"data": body, "content_type": "multipart/form-data; boundary=x"}
        else:
            types = ["multipart/form-data", "multipart/form-data; boundary=\0", "a/b"]
            types += ["application/x-www-form-urlencoded; charset=utf-99", "text/plain"]
            return {
                "data": self.clean().encode(),
                "content_type": self.rng.choice(types),
            }
        return {"data": body, "content_type": "application/json"}

    def send(self) -> tuple[str, object]:
        """Send one request. Return its description and the response."""
        person = self.rng.choice(PEOPLE)
        client, path, headers = self.clients[person], self.path(), self.headers()
        cookies = dict(client.cookies)
        method, arguments = "get", {}
        if self.rng.random() < 0.6:
            path += "?" + urlencode(self.query(), errors="replace")
        else:
            method, arguments = self.rng.choice(METHODS), self.body()
        if isinstance(arguments.get("data"), dict):
            method, call = "post", client.post
        else:
            call = partial(client.generic, method.upper())
        response = call(path, headers=headers, **arguments)
        client.cookies.clear()
        client.cookies.update(cookies)
        shown = {key: str(value)[:300] for key, value in arguments.items()}
        return f"{person} {method} {path[:300]} {shown} {headers}"[:1500], response


def run(show: Show, seed: int, count: int) -> None:
    Tournament.objects.create(slug="cup", name="Cup", limits={})
    undecided(show)
    fuzzer = Fuzzer(show, seed)
    failures, answered = [], set()
    for _ in range(count):
        request, response = fuzzer.send()
        answered.add(response.status_code)
        content = b"" if response.streaming else response.content
        for close_file in response._resource_closers:
            close_file()  # response.close() would close the test's database, too
        if response.status_code >= 500 or any(mark in content for mark in MARKS):
            failures.append(f"{response.status_code} {request}\n{response!r}")

    assert {200, 302, 400, 401, 404, 405} <= answered
    assert not failures, "\n\n".join(failures[:5])


def test_a_thousand_hostile_requests(show: Show, settings) -> None:
    settings.TORRES_RATES = dict.fromkeys(settings.TORRES_RATES, 10**6)
    run(show, 20_261_122, 1000)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_twenty_thousand_hostile_requests(show: Show, settings, seed: int) -> None:
    settings.TORRES_RATES = dict.fromkeys(settings.TORRES_RATES, 10**6)
    settings.TORRES_RATE_USER = settings.TORRES_RATE_ANONYMOUS = 10**6
    settings.TORRES_RATE_TOKEN = 10**6
    run(show, seed + int(os.environ.get("TESTS_FUZZ_SEED", "0")), 1000)


LISTS = [
    "/api/v1/bots/",
    "/api/v1/games/",
    "/api/v1/matches/",
    "/api/v1/bots/grendel/submissions/",
    "/api/v1/tournaments/",
]
CURSORS = [
    "p=abc",
    "p=",
    "p=1&o=x",
    "p=" + "9" * 30,
    "p=٣",
    "p=1\0",
    "r=2&p=-1",
    "p=1.5",
]


@pytest.mark.parametrize("address", LISTS)
def test_a_forged_cursor_is_refused(anybody, show: Show, address: str) -> None:
    for cursor in CURSORS:
        forged = base64.b64encode(cursor.encode()).decode()
        answer = anybody.get(address, {"cursor": forged})

        assert answer.status_code == 400, cursor
        assert "cursor" in answer.json()["detail"], cursor


@pytest.mark.parametrize("body", ["[" * 60_000, '{"name":' * 8_000])
def test_json_that_is_nested_deeply_is_refused(ana, body: str) -> None:
    answer = ana.post("/api/v1/bots/", body, content_type="application/json")

    assert answer.status_code == 400
    assert answer.json()["code"] == "parse-error"
    assert "nested" in answer.json()["detail"]


@pytest.mark.parametrize(
    "query", ["version=%0d%0aX:1", 'version=x"; filename="evil.html', "lang=de", "x=1"]
)
def test_the_schema_has_no_parameters(anybody, query: str) -> None:
    answer = anybody.get(f"/api/schema/?{query}")

    assert answer.status_code == 400
    assert "evil" not in str(answer.headers)
    assert anybody.get("/api/schema/").status_code == 200


@pytest.mark.parametrize("method", ["options", "post", "put", "delete"])
def test_the_page_of_the_schema_is_only_read(anybody, method: str) -> None:
    assert getattr(anybody, method)("/api/docs/").status_code == 405
