"""The pages of `torres ladder --web`: a small web server on this machine only.

It listens on the loopback address, answers only requests that name it, and changes
nothing. The pages read the ladder in memory and the replays in its folder.
"""

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import click

from torres.cli.local_ladder import LadderBot, LocalLadder, PlayedRow
from torres.cli.replay_files import read
from torres.cli.view import STATIC, page_of
from torres.drawing.charts import Chart, chart

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8800
REFRESH_S = 5
SHOWN_GAMES = 20
REQUEST_TIMEOUT_S = 10
_GAME = re.compile(r"/games/([1-9][0-9]{0,11})/")
_BOT = re.compile(r"/bots/([^/]+)/")
HEADER = (
    '<header><nav aria-label="Main"><a class="brand" href="/">Local ladder</a></nav>'
    "</header>"
)
PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="{refresh}">
<title>{title}</title><link rel="stylesheet" href="/site.css">
<link rel="icon" href="/icon.svg" type="image/svg+xml"></head>
<body>{header}<main id="main" tabindex="-1"><h1>{title}</h1>{body}</main>
<footer>Ratings are μ − 3σ of TrueSkill. These pages are served by
<code>torres ladder</code> on this machine only.</footer></body></html>
"""
PAGE_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'"
# `torres view` writes its style and its scripts into the page.
VIEWER_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' data:"
)


class LadderServer(ThreadingHTTPServer):
    """A web server for one ladder. Port 0 stands for any free port."""

    daemon_threads = True

    def __init__(self, local: LocalLadder, port: int) -> None:
        super().__init__((LOOPBACK, port), LadderRequest)
        self.local = local

    @property
    def names(self) -> list[str]:
        """The values of the Host header that mean this server.

        A page of another site can lead a browser to the loopback address under a name
        of its own (DNS rebinding), and must not read this ladder.
        """
        return [f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost")]


class LadderRequest(BaseHTTPRequestHandler):
    """One request. Only GET and HEAD are known."""

    server: LadderServer
    timeout = REQUEST_TIMEOUT_S
    server_version = "torres"
    sys_version = ""

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name of the base class
        """Write nothing: the terminal shows the leaderboard."""

    def _answer(self) -> None:
        if self.headers.get("Host", "") not in self.server.names:
            text = f"Open http://{self.server.names[0]}/ instead."
            self._send(HTTPStatus.FORBIDDEN, text.encode(), "text/plain")
            return
        path = urlsplit(self.path).path
        if path in ("/site.css", "/icon.svg"):
            kind = "text/css" if path.endswith(".css") else "image/svg+xml"
            self._send(HTTPStatus.OK, (STATIC / path[1:]).read_bytes(), kind)
            return
        page = self._page(path)
        status = HTTPStatus.OK if page else HTTPStatus.NOT_FOUND
        text = page or _page("Nothing is here", '<p><a href="/">Leaderboard</a></p>')
        policy = VIEWER_POLICY if _GAME.fullmatch(path) and page else PAGE_POLICY
        self._send(status, text.encode(), "text/html; charset=utf-8", policy)

    def _page(self, path: str) -> str | None:
        local = self.server.local
        if path == "/":
            return leaderboard_page(local)
        if found := _BOT.fullmatch(path):
            bot = local.bots.get(unquote(found[1]))
            return bot_page(local, bot) if bot else None
        if found := _GAME.fullmatch(path):
            return game_page(local.replay_of(int(found[1])))
        return None

    def _send(
        self, status: HTTPStatus, body: bytes, kind: str, policy: str = PAGE_POLICY
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", policy)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def serving(local: LocalLadder, port: int | None) -> Iterator[str]:
    """Serve the pages in a thread; give their address.

    Without a port it is `DEFAULT_PORT`, or a free one if that is in use. Raises
    BadParameter if a chosen port cannot be used.
    """
    server = _open_server(local, port)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{server.names[0]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _open_server(local: LocalLadder, port: int | None) -> LadderServer:
    try:
        return LadderServer(local, DEFAULT_PORT if port is None else port)
    except OSError as error:
        if port is None:
            return LadderServer(local, 0)
        raise click.BadParameter(
            f"port {port} cannot be used ({error.strerror}); choose another one",
            param_hint="--port",
        ) from None


def leaderboard_page(local: LocalLadder) -> str:
    """Return the page with all bots, best first, and the latest games."""
    with local.lock:
        rows = local.leaderboard()
        games = list(local.latest)[-SHOWN_GAMES:]
        count = local.games
    heads = ("Rank", "Bot", "Rating", "μ", "σ", "Games", "Forfeits", "Version")
    body = _table(
        "Leaderboard",
        heads,
        [
            [
                f"{row.rank}",
                _bot_link(row.name),
                f"{row.rating:.1f}",
                f"{row.mu:.1f}",
                f"{row.sigma:.1f}",
                f"{row.games}",
                f"{row.forfeits}",
                f"{row.version}",
            ]
            for row in rows
        ],
    )
    folder = html.escape(str(local.folder))
    lead = f'<p class="lead">{count} games of the bots in <code>{folder}</code>.</p>'
    return _page("Leaderboard", lead + body + _games("Latest games", games))


def bot_page(local: LocalLadder, bot: LadderBot) -> str:
    """Return the page of a bot: its rating, its history and its latest games."""
    with local.lock:
        skill = local.state.bots[bot.number].skill
        points = list(local.history[bot.number])
        own = [game for game in local.latest if bot.name in game.names][-SHOWN_GAMES:]
    facts = {
        "Rating": f"{skill.shown_rating:.2f}",
        "μ": f"{skill.mu:.2f}",
        "σ": f"{skill.sigma:.2f}",
        "Version": f"{bot.version}",
    }
    shown = "".join(
        f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items()
    )
    left = "" if bot.program else '<p class="note">It is not in the folder now.</p>'
    body = f'{left}<dl class="facts">{shown}</dl>{_figure(chart(points))}'
    return _page(bot.name, body + _games("Latest games", own))


def game_page(replay: Path) -> str | None:
    """Return the viewer for a replay; None if its file is gone."""
    if not replay.is_file():
        return None
    document: Any = read(str(replay))  # this command wrote it
    page = page_of(document, replay.stem.replace("-", " ").capitalize())
    return page.replace("<body>", f"<body>{HEADER}", 1)


def _page(title: str, body: str) -> str:
    return PAGE.format(
        header=HEADER, title=html.escape(title), body=body, refresh=REFRESH_S
    )


def _bot_link(name: str) -> str:
    return f'<a href="/bots/{quote(name, safe="")}/">{html.escape(name)}</a>'


def _games(title: str, games: list[PlayedRow]) -> str:
    rows = [
        [
            f'<a href="/games/{game.number}/">{game.number}</a>',
            "<br>".join(
                f"{rank}. {_bot_link(name)} #{version}: {score}"
                + (f' <span class="tag warn">{html.escape(fault)}</span>' * bool(fault))
                for rank, name, version, score, fault in sorted(game.seats)
            ),
        ]
        for game in reversed(games)
    ]
    if not rows:
        return f'<h2>{title}</h2><p class="empty">No game has ended yet.</p>'
    return f"<h2>{title}</h2>" + _table(title, ("Game", "Result"), rows)


def _table(caption: str, heads: tuple[str, ...], rows: list[list[str]]) -> str:
    """Return a table. The cells are HTML; those in the second column are texts."""
    head = "".join(
        f'<th scope="col"{_number_class(column)}>{name}</th>'
        for column, name in enumerate(heads)
    )
    lines = "".join(
        "<tr>"
        + "".join(
            f"<td{_number_class(column)}>{cell}</td>" for column, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide"><table><caption class="hidden">{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _number_class(column: int) -> str:
    return "" if column == 1 else ' class="n"'


def _figure(drawn: Chart | None) -> str:
    """Return the chart of a rating, as on the page of a bot on the server."""
    if drawn is None or drawn.count < 2:
        return ""
    ticks = "".join(
        f'<line class="grid" x1="{drawn.left}" x2="{drawn.width}" y1="{tick.y}"'
        f' y2="{tick.y}"/><text x="{drawn.left - 6}" y="{tick.y}" dy="4">{tick.label}'
        "</text>"
        for tick in drawn.ticks
    )
    dashed = "; dashed: a version begins to play" if drawn.marks else ""
    marks = "".join(
        f'<line class="mark" x1="{mark.x}" x2="{mark.x}" y1="16" y2="180"/>'
        f'<text class="marklabel" x="{mark.x}" y="11">{mark.label}</text>'
        for mark in drawn.marks
    )
    return (
        f'<figure><svg class="chart" viewBox="0 0 {drawn.width} {drawn.height}"'
        f' role="img" aria-label="Rating over {drawn.count} entries">{ticks}'
        f'<polygon class="band" points="{drawn.band}"/>{marks}'
        f'<polyline class="mean" points="{drawn.mean}"/>'
        f'<polyline class="line" points="{drawn.line}"/></svg><figcaption>Rating'
        f" (thick), μ (thin) and μ ± 3σ (band), game by game{dashed}."
        "</figcaption></figure>"
    )
