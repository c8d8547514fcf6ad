"""The pages of `torres ladder --web`: files that show the ladder in a browser.

The command writes them again after each game, and the browser loads them again. No
server is needed, and nothing of the ladder can be changed through them.
"""

import html
import shutil
from pathlib import Path
from typing import Any

from torres.cli.local_ladder import LadderBot, LocalLadder, PlayedRow
from torres.cli.replay_files import read
from torres.cli.view import STATIC, page_of
from torres.common.whole_file import write_whole
from torres.drawing.charts import Chart, chart

REFRESH_S = 5
SHOWN_GAMES = 20
PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="{refresh}">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';
 style-src 'unsafe-inline'">
<title>{title}</title><style>{style}</style></head>
<body>{header}<main id="main" tabindex="-1"><h1>{title}</h1>{body}</main>
<footer>Ratings are μ − 3σ of TrueSkill. <code>torres ladder</code> wrote these
pages.</footer></body></html>
"""
HEADER = (
    '<header><nav aria-label="Main"><a class="brand" href="index.html">Local ladder</a>'
    "</nav></header>"
)


class LadderPages:
    """The folder with the pages of one ladder."""

    def __init__(self, local: LocalLadder) -> None:
        self._local = local
        self._written: tuple[int, int] | None = None
        self.folder = local.home / "pages"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    @property
    def address(self) -> str:
        return (self.folder / "index.html").as_uri()

    def write(self) -> None:
        """Write the pages of the leaderboard, of all bots and of the latest games.

        This does nothing if no bot has joined and no game has ended meanwhile.
        """
        local = self._local
        state = (len(local.bots), local.games)
        if state == self._written:
            return
        self._written = state
        write_whole(self.folder / "index.html", leaderboard_page(local))
        for bot in list(local.bots.values()):
            write_whole(self.folder / _bot_file(bot.number), bot_page(local, bot))
        latest = list(local.latest)[-SHOWN_GAMES:]
        shown = {_game_file(game.number): game for game in latest}
        for name, game in shown.items():
            replay = local.replay_of(game.number)
            if not (self.folder / name).exists() and replay.is_file():
                write_whole(self.folder / name, game_page(replay))
        for old in self.folder.glob("game-*.html"):
            if old.name not in shown:
                old.unlink()


def _bot_file(number: int) -> str:
    return f"bot-{number}.html"


def _game_file(number: int) -> str:
    return f"game-{number}.html"


def leaderboard_page(local: LocalLadder) -> str:
    """Return the page with all bots, best first, and the latest games."""
    heads = ("Rank", "Bot", "Rating", "μ", "σ", "Games", "Forfeits", "Version")
    rows = [
        [
            f"{row.rank}",
            _bot_link(local, row.name),
            f"{row.rating:.1f}",
            f"{row.mu:.1f}",
            f"{row.sigma:.1f}",
            f"{row.games}",
            f"{row.forfeits}",
            f"{row.version}",
        ]
        for row in local.leaderboard()
    ]
    folder = html.escape(str(local.folder))
    count = f"{local.games} games of the bots in"
    lead = f'<p class="lead">{count} <code>{folder}</code>.</p>'
    table = _table("Leaderboard", heads, rows)
    games = _games(local, list(local.latest)[-SHOWN_GAMES:])
    return _page("Leaderboard", lead + table + games)


def bot_page(local: LocalLadder, bot: LadderBot) -> str:
    """Return the page of a bot: its rating, its history and its latest games."""
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
    return _page(bot.name, body + _games(local, own))


def game_page(replay: Path) -> str:
    """Return the viewer for a replay."""
    document: Any = read(str(replay))  # this command wrote it
    page = page_of(document, replay.stem.replace("-", " ").capitalize())
    return page.replace("<body>", f"<body>{HEADER}", 1)


def _page(title: str, body: str) -> str:
    return PAGE.format(
        header=HEADER,
        title=html.escape(title),
        body=body,
        refresh=REFRESH_S,
        style=(STATIC / "site.css").read_text(),
    )


def _bot_link(local: LocalLadder, name: str) -> str:
    return f'<a href="{_bot_file(local.bots[name].number)}">{html.escape(name)}</a>'


def _games(local: LocalLadder, games: list[PlayedRow]) -> str:
    """Return the latest games. Only some of them have a page with the viewer."""
    newest = {game.number for game in list(local.latest)[-SHOWN_GAMES:]}
    rows = [
        [
            f'<a href="{_game_file(game.number)}">{game.number}</a>'
            if game.number in newest
            else f"{game.number}",
            "<br>".join(
                f"{rank}. {_bot_link(local, name)} #{version}: {score}"
                + (f' <span class="tag warn">{html.escape(fault)}</span>' * bool(fault))
                for rank, name, version, score, fault in sorted(game.seats)
            ),
        ]
        for game in reversed(games)
    ]
    title = "Latest games"
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
