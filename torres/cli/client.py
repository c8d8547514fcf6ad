"""A client of the REST API (docs/api.md), and the logins that it uses.

Logins are stored in ``ladders.json`` in the configuration folder of the user, which
only the user may read. ``TORRES_LADDER`` and ``TORRES_TOKEN`` replace them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from http import HTTPStatus
from ipaddress import ip_address
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar
from urllib.parse import quote, urlsplit
from uuid import uuid4

import click

from torres.common import answers
from torres.common.json_object import JsonObject
from torres.common.lazy_import import lazy_import
from torres.common.pause import pause
from torres.common.quoting import printable
from torres.common.typed import BadDocument, checked, decoded, parse, reason

if TYPE_CHECKING:
    import httpx
else:
    httpx = lazy_import("httpx")  # takes 50 ms, and help pages do not need it

TIMEOUT_S = 60.0
CONNECT_TIMEOUT_S = 10.0
UPLOAD_TIMEOUT_S = 300.0
"""An upload waits until the service has unpacked those that came before it."""
MAX_WAITS = 5
"""A request that is refused for its rate is repeated at most this many times."""
MAX_WAIT_S = 60.0
RETRIES = 3
"""A request is sent at most this often if the connection breaks."""
_REPEATED = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.CONFLICT,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
"""Answers after which a request may be repeated, if they say when."""
MAX_ANSWER_BYTES = 64 << 20
"""An answer may not fill the memory. The longest, 256 leaves of the public log, has
16 MiB."""

T = TypeVar("T")
_CODING = ("content-encoding", "content-length", "transfer-encoding")
_LAYOUT = "\n\t"
"""The control characters that stay in texts of a server."""


_THINGS = {
    "bots": "bot",
    "games": "game",
    "ladders": "ladder",
    "matches": "match",
    "submissions": "submission",
    "tournaments": "tournament",
}
"""The things that have an address of their own, by the folder of that address."""
_NAMED_THING = re.compile(rf"/api/v1/(?P<kind>{'|'.join(_THINGS)})/(?P<name>[^/]+)/")


class RemoteError(click.ClickException):
    """The ladder refused a request, or did not answer."""

    exit_code = 2

    def __init__(self, message: str, status: int | None = None) -> None:
        # The text of a hostile server must not control the terminal.
        super().__init__(printable(message, _LAYOUT))
        self.status = status


@dataclass(frozen=True, slots=True)
class Login:
    """The address of a ladder's service, and a token; "" to read only.

    `cosign` says whether `torres submit` cosigns the public log of the service.
    """

    address: str
    token: str
    user: str = ""
    cosign: bool = True


def config_file() -> Path:
    """Return the file with the logins; `XDG_CONFIG_HOME` can move it."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "torres-ladder" / "ladders.json"


def clean_address(text: str) -> str:
    """Return the address of a service without `/api/v1/`. Raises RemoteError."""
    address = text.strip().rstrip("/").removesuffix("/api/v1")
    parts = urlsplit(address if "://" in address else f"http://{address}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RemoteError(
            f"{text!r} is not the address of a ladder; write it like"
            " https://ladder.example.org"
        )
    return parts.geturl()


def saved_logins() -> dict[str, Login]:
    """Return the logins by address, the latest one last."""
    try:
        rows = decoded(list[Login], config_file().read_bytes())
        return {row.address: row for row in rows}
    except FileNotFoundError:
        return {}
    except BadDocument as error:
        raise RemoteError(
            f"{config_file()} is damaged ({error}); delete it and log in again"
        ) from None


def save_logins(logins: dict[str, Login]) -> None:
    """Write the logins so that only the user can read them."""
    file = config_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [asdict(row) for row in logins.values()]
    new = file.with_suffix(".new")
    new.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(new, flags, 0o600), "w", encoding="utf-8") as stream:
        json.dump(rows, stream, indent=1)
    new.replace(file)


def find_login(address: str | None) -> Login:
    """Return the login to use: for an address, or the latest one.

    Raises RemoteError if there is none.
    """
    token = os.environ.get("TORRES_TOKEN", "")
    wanted = address or os.environ.get("TORRES_LADDER")
    logins = saved_logins()
    if wanted:
        wanted = clean_address(wanted)
        saved = logins.get(wanted, Login(wanted, ""))
        return replace(saved, token=token or saved.token)
    if not logins:
        raise RemoteError(
            "you are not logged in; use `torres login ADDRESS`, or name a ladder with"
            " --ladder ADDRESS"
        )
    latest = list(logins.values())[-1]
    return replace(latest, token=token or latest.token)


class LadderClient:
    """The REST API of one service. Every method raises RemoteError.

    docs/client.md describes it for programs of other people.
    """

    def __init__(
        self, login: Login, transport: httpx.BaseTransport | None = None
    ) -> None:
        """Open no connection yet; `transport` replaces those over the network."""
        if login.token:
            _refuse_plain_http(login.address)
        self.login = login
        head = {"User-Agent": "torres"}
        if login.token:
            head["Authorization"] = f"Bearer {login.token}"
        self._http = httpx.Client(
            base_url=f"{login.address}/api/v1/",
            headers=head,
            timeout=httpx.Timeout(TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    # --- what the API offers

    def me(self) -> answers.UserAnswer:
        """Return the user of the token."""
        return self._get(answers.UserAnswer, "me/")

    def bot(self, slug: str) -> answers.BotAnswer:
        return self._get(answers.BotAnswer, f"bots/{quote(slug, '')}/")

    def bots(self, owner: str | None = None) -> Iterator[answers.BotAnswer]:
        """Yield all bots, or those of one owner."""
        filters = {} if owner is None else {"owner": owner}
        return self._rows(answers.BotAnswer, "bots/", **filters)

    def create_bot(self, name: str) -> answers.BotAnswer:
        return self._post(answers.BotAnswer, "bots/", json={"name": name})

    def upload(
        self, slug: str, filename: str, content: bytes
    ) -> answers.SubmissionAnswer:
        """Upload to a bot; return the submission."""
        return self._post(
            answers.SubmissionAnswer,
            f"bots/{quote(slug, '')}/submissions/",
            files={"archive": (filename, content)},
            timeout=httpx.Timeout(UPLOAD_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
        )

    def submissions(self, slug: str) -> Iterator[answers.SubmissionAnswer]:
        """Return the submissions of a bot, the newest first."""
        return self._rows(
            answers.SubmissionAnswer, f"bots/{quote(slug, '')}/submissions/"
        )

    def submission(self, number: int) -> answers.SubmissionAnswer:
        return self._get(answers.SubmissionAnswer, f"submissions/{number}/")

    def languages(self) -> list[answers.LanguageAnswer]:
        """Return the languages of bots, with the versions on the workers."""
        return self._get(answers.LanguagesAnswer, "languages/")["languages"]

    def versions(self) -> dict[str, str]:
        """Return the versions of the service's software and formats; {} if unknown."""
        return self._get(answers.StatusAnswer, "status/").get("versions", {})

    def ladders(self) -> Iterator[answers.LadderAnswer]:
        return self._rows(answers.LadderAnswer, "ladders/")

    def ladder(self, slug: str) -> answers.LadderAnswer:
        return self._get(answers.LadderAnswer, f"ladders/{quote(slug, '')}/")

    def leaderboard(self, slug: str, **filters: object) -> answers.LeaderboardAnswer:
        path = f"ladders/{quote(slug, '')}/leaderboard/"
        return self._get(answers.LeaderboardAnswer, path, **filters)

    def leaderboard_pages(
        self, slug: str, season: int
    ) -> Iterator[answers.LeaderboardAnswer]:
        """Return all pages of the leaderboard of a season."""
        path = f"ladders/{quote(slug, '')}/leaderboard/"
        return self._pages(answers.LeaderboardAnswer, path, season=season)

    def tournaments(self) -> Iterator[answers.TournamentAnswer]:
        """Yield all announced tournaments, also those that are archived."""
        yield from self._rows(answers.TournamentAnswer, "tournaments/")
        yield from self._rows(answers.TournamentAnswer, "tournaments/", archived="true")

    def standings(self, slug: str) -> list[answers.LineAnswer]:
        """Return the lines of the standings of a tournament, the best first."""
        path = f"tournaments/{quote(slug, '')}/standings/"
        return self._get(answers.StandingsAnswer, path)["standings"]

    def datasets(self) -> list[str]:
        """Return the days of the datasets that can be downloaded, newest first."""
        return self._get(answers.DatasetsAnswer, "datasets/")["days"]

    def dataset_manifest(self, day: str) -> JsonObject:
        """Return the tables of a dataset, with their files and checksums."""
        return self._get(JsonObject, f"datasets/{quote(day, '')}/manifest.json")

    def log_file(self, path: str) -> bytes:
        """Return a file of the public log. Raises RemoteError."""
        return self._send("GET", f"{self.login.address}/log/{path}").content

    def send_cosignature(self, checkpoint: str) -> str:
        """Send a cosigned checkpoint; return why the service refuses it, or ""."""
        url = f"{self.login.address}/log/cosignatures"
        try:
            answer = self._request("POST", url, content=checkpoint.encode())
        except httpx.RequestError as error:
            raise self._no_answer(error) from None
        return "" if answer.is_success else _detail(answer)

    def record(self, ladder: str, bot: str) -> answers.RecordAnswer | None:
        """Return the numbers of a bot on a ladder; None if it has not joined it."""
        return self._get_if_any(answers.RecordAnswer, _place(ladder, bot, "record"))

    def counted_record(
        self, ladder: str, bot: str
    ) -> answers.CountedRecordAnswer | None:
        """Return the results of a bot by seat; None if it is not on the ladder."""
        path = _place(ladder, bot, "record")
        return self._get_if_any(answers.CountedRecordAnswer, path)

    def opponents(self, ladder: str, bot: str) -> Iterator[answers.OpponentsAnswer]:
        """Return all pages of the opponents of a bot in the present season."""
        return self._pages(answers.OpponentsAnswer, _place(ladder, bot, "against"))

    def places(self, bot: str) -> list[answers.PlaceAnswer]:
        """Return the ladders on which a bot plays or played."""
        return self._get(list[answers.PlaceAnswer], f"bots/{quote(bot, '')}/ladders/")

    def join(self, ladder: str, bot: str) -> answers.PlaceAnswer:
        """Let an own bot join a ladder; return its place there."""
        return self._post(answers.PlaceAnswer, _place(ladder, bot, "join"))

    def leave(self, ladder: str, bot: str) -> answers.PlaceAnswer:
        """Take an own bot off a ladder; return its place there."""
        return self._post(answers.PlaceAnswer, _place(ladder, bot, "leave"))

    def latest_games(self, bot: str, count: int) -> list[answers.GameAnswer]:
        """Return a bot's latest finished games, at most `count` (up to 200)."""
        games = self.games(bot=bot, status="finished", limit=count)
        return list(islice(games, count))

    def game_numbers(self, count: int, **filters: object) -> list[int]:
        """Return the numbers of the newest games, at most `count`. Raises RemoteError.

        Files are named after them.
        """
        return [row["id"] for row in islice(self.games(**filters), count)]

    def games(self, **filters: object) -> Iterator[answers.GameAnswer]:
        """Return the games, the newest first."""
        return self._rows(answers.GameAnswer, "games/", **filters)

    def game(self, number: int) -> answers.GameAnswer:
        return self._get(answers.GameAnswer, f"games/{number}/")

    def match(self, number: int) -> answers.MatchAnswer:
        return self._get(answers.MatchAnswer, f"matches/{number}/")

    def replay(self, number: int) -> JsonObject:
        """Return a replay. The engine checks it when it is played."""
        return self._get(JsonObject, f"games/{number}/replay/")

    def exported_games(self, **filters: object) -> Iterator[answers.ExportedGame]:
        """Return all finished games, the newest first.

        To go on later, send the `cursor` of the last one as a filter.
        """
        return self._exported(answers.ExportedGame, "exports/games/", filters)

    def exported_replays(self, **filters: object) -> Iterator[answers.ExportedReplay]:
        """Return all public replays, with the numbers of their games.

        To go on later, send the `cursor` of the last one as a filter.
        """
        return self._exported(answers.ExportedReplay, "exports/replays/", filters)

    def _exported(
        self, kind: type[T], path: str, filters: dict[str, object]
    ) -> Iterator[T]:
        """Yield the rows of an export, with few requests.

        A connection that breaks is opened again after the last line.
        """
        cursor: dict[str, object] = {}
        ends: set[str] = set()
        failures = 0
        while True:
            try:
                for line in self._lines(path, {**filters, **cursor}):
                    if "end" not in line:
                        row = self._checked(kind, line)
                        cursor = {"cursor": line["cursor"]}
                        failures = 0
                        yield row
                        continue
                    following = self._checked(answers.ExportEnd, line)["next"]
                    if following is None:
                        return
                    if following in ends:
                        raise self._strange("the export does not go on")
                    ends.add(following)
                    cursor = {"cursor": following}
            except httpx.RequestError as error:
                failures += 1
                if failures >= RETRIES:
                    raise self._no_answer(error) from None
                pause(failures)

    def _lines(self, path: str, params: dict[str, object]) -> Iterator[JsonObject]:
        """Yield the lines of one part of an export.

        Raises httpx.RequestError if the part is cut off.
        """
        waits = 0
        while True:
            with self._http.stream("GET", path, params=params) as answer:  # type: ignore[arg-type]
                if answer.is_success:
                    yield from self._whole_part(answer)
                    return
                answer.read()
                wait_s = _wait_s(answer)
                if wait_s is None or waits >= MAX_WAITS:
                    _accepted(answer)  # raises the error that the answer tells
                    return
            waits += 1
            pause(wait_s)

    def _whole_part(self, answer: httpx.Response) -> Iterator[JsonObject]:
        """Yield the lines up to the last one. Raises ReadError if it is missing."""
        pending = bytearray()
        for chunk in answer.iter_bytes():
            pending += chunk
            *lines, pending = pending.split(b"\n")
            for line in lines:
                row = self._read(JsonObject, bytes(line))
                yield row
                if "end" in row:
                    return
            self._refuse_more_than_fits(pending)
        raise httpx.ReadError("the export was cut off")

    def moves(self, number: int) -> answers.MovesAnswer:
        return self._get(answers.MovesAnswer, f"games/{number}/moves/")

    def logs(self, number: int) -> list[answers.SeatLogAnswer]:
        """Return what the seats of your own bots left behind in a game."""
        return self._get(list[answers.SeatLogAnswer], f"games/{number}/logs/")

    # --- requests

    def _get(self, kind: type[T], path: str, **filters: object) -> T:
        return self._read(kind, self._send("GET", path, params=filters).content)

    def _get_if_any(self, kind: type[T], path: str) -> T | None:
        """Return an answer, or None if the service does not have what is asked for."""
        try:
            return self._get(kind, path)
        except RemoteError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    def _post(self, kind: type[T], path: str, **body: object) -> T:
        return self._read(kind, self._send("POST", path, **body).content)

    def _rows(self, kind: type[T], path: str, **filters: object) -> Iterator[T]:
        """Yield the rows of a list that has pages."""
        for page in self._pages(JsonObject, path, **filters):
            yield from self._checked(list[kind], page.get("results"))  # type: ignore[valid-type]

    def _pages(self, kind: type[T], path: str, **filters: object) -> Iterator[T]:
        """Return the pages of a list as they are."""
        answer = self._send("GET", path, params={"limit": 200, **filters})
        seen = set()
        while True:
            page = self._read(kind, answer.content)
            yield page
            following = self._checked(answers.PageLinks, page)["next"]
            if following is None:
                return
            if following in seen:
                raise self._strange("the pages do not end")
            seen.add(following)
            answer = self._send("GET", self._own(following))

    def _own(self, url: str) -> str:
        """Return an address that the service names, at the origin of the login.

        Otherwise the service could send us, with the token, to another server.
        """
        here = urlsplit(self.login.address)
        try:
            there = urlsplit(url)._replace(scheme=here.scheme, netloc=here.netloc)
            return str(httpx.URL(there.geturl()))
        except (ValueError, httpx.InvalidURL) as error:
            raise self._strange(f"next: {error}") from None

    def _send(self, method: str, path: str, **body: object) -> httpx.Response:
        """Send a request; wait if the rate is limited, and repeat it if it fails.

        A POST has a key, so that the service does it once however often it is sent.
        """
        if method == "POST":
            body = {**body, "headers": {"Idempotency-Key": str(uuid4())}}
        waits = 0
        failures = 0
        while True:
            try:
                answer = self._request(method, path, **body)
            except httpx.RequestError as error:
                failures += 1
                if failures >= RETRIES:
                    raise self._no_answer(error) from None
                pause(failures)
                continue
            wait_s = _wait_s(answer)
            if wait_s is None or waits >= MAX_WAITS:
                return _accepted(answer)
            waits += 1
            pause(wait_s)

    def _request(self, method: str, path: str, **body: object) -> httpx.Response:
        """Send a request once, and read a bounded answer.

        Raises httpx.RequestError, and RemoteError if the answer is too long.
        """
        with self._http.stream(method, path, **body) as answer:  # type: ignore[arg-type]
            content = bytearray()
            for chunk in answer.iter_bytes():
                content += chunk
                self._refuse_more_than_fits(content)
            # The content is decoded already.
            headers = [row for row in answer.headers.items() if row[0] not in _CODING]
            return httpx.Response(
                answer.status_code,
                headers=headers,
                content=bytes(content),
                request=answer.request,
            )

    def _refuse_more_than_fits(self, content: bytearray) -> None:
        if len(content) > MAX_ANSWER_BYTES:
            raise RemoteError(
                f"{self.login.address} answers with more than"
                f" {MAX_ANSWER_BYTES >> 20} MiB; check the address"
            )

    def _no_answer(self, error: Exception) -> RemoteError:
        return RemoteError(
            f"{self.login.address} does not answer ({error}); check the address and"
            " whether the ladder runs"
        )

    def _read(self, kind: type[T], text: bytes) -> T:
        """Return the JSON of an answer, with the control characters escaped."""
        try:
            return self._checked(kind, _readable(parse(text)))
        except (BadDocument, RecursionError) as error:
            raise self._strange(reason(error)) from None

    def _checked(self, kind: type[T], value: object) -> T:
        try:
            return checked(kind, value)
        except BadDocument as error:
            raise self._strange(str(error)) from None

    def _strange(self, why: str) -> RemoteError:
        return RemoteError(
            f"{self.login.address} does not answer like a Torres ladder ({why}); check"
            " the address, and compare the versions with torres self-check"
        )


def _refuse_plain_http(address: str) -> None:
    """Raise RemoteError if a token would cross a network unencrypted."""
    parts = urlsplit(address)
    if parts.scheme == "https" or _is_this_machine(parts.hostname or ""):
        return
    raise RemoteError(
        f"{address} would get your token unencrypted, so that others could read it;"
        f" use https://{parts.netloc}"
    )


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")  # RFC 6761


def _readable(value: object) -> object:
    """Return a JSON value with the control characters of its texts escaped."""
    if isinstance(value, str):
        return printable(value, _LAYOUT)
    if isinstance(value, list):
        return [_readable(each) for each in value]
    if isinstance(value, dict):
        return {_readable(key): _readable(each) for key, each in value.items()}
    return value


def _place(ladder: str, bot: str, action: str) -> str:
    """Return the path of an action; the names come from the command line."""
    return f"ladders/{quote(ladder, '')}/bots/{quote(bot, '')}/{action}/"


def _wait_s(answer: httpx.Response) -> float | None:
    """Return how many seconds to wait before a request is repeated; None for never.

    A conflict tells a time if the same request is still being processed.
    """
    if answer.status_code not in _REPEATED:
        return None
    try:
        wait_s = float(answer.headers["Retry-After"])
    except (KeyError, ValueError):
        return None
    return max(wait_s, 0.1) if wait_s <= MAX_WAIT_S else None


def _accepted(answer: httpx.Response) -> httpx.Response:
    """Return the answer if it is no error. Raises RemoteError with its text."""
    if answer.is_success:
        return answer
    status = answer.status_code
    if status == HTTPStatus.UNAUTHORIZED:
        message = "this needs a valid token; use `torres login ADDRESS`"
    elif status == HTTPStatus.NOT_FOUND and (thing := _missing(answer.url.path)):
        message = f"there is no {thing} on this ladder, or you may not see it"
    else:
        message = _detail(answer)
    raise RemoteError(message, status)


def _missing(path: str) -> str:
    """Return what an address of the REST API names, such as game 7; "" if nothing."""
    found = _NAMED_THING.search(path)
    return f"{_THINGS[found['kind']]} {found['name']}" if found else ""


def _detail(answer: httpx.Response) -> str:
    try:
        return checked(answers.ProblemAnswer, parse(answer.content))["detail"]
    except BadDocument:
        return f"{answer.url} answers {answer.status_code} {answer.reason_phrase}"
