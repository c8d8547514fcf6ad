"""`torres view`: the viewer of the web pages for a local replay, in one HTML file."""

import html
import json
import re
import tempfile
import webbrowser
from base64 import b64encode
from pathlib import Path

import click

from engine.documents import Replay
from torres.cli.replay_files import read_valid
from torres.drawing import frames

VIEWER = Path(__file__).resolve().parent.parent / "viewer"
STATIC = VIEWER / "static"
TEMPLATES = VIEWER / "templates" / "web"
_IMPORT = re.compile(r'(from |import\()"\./([a-z]+\.js)"')
# The text of a tag of Django; other tags of the templates have none.
_TAG = re.compile(r'{% (?:translate "([^"]*)"|[a-z0-9 ]+) %}')
PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';
 style-src 'unsafe-inline'; script-src 'unsafe-inline' data:">
<title>{title}</title><style>{style}</style></head>
<body><main id="main" tabindex="-1">
<section id="viewer" aria-label="Replay">
<div class="boardside"><svg id="board" viewBox="0 52 524 352" role="img"
 aria-label="The board" aria-describedby="description"></svg>{controls}</div>
<div class="rail"><h1>{title}</h1>
<ol id="players" aria-label="Players">{players}</ol>{rail}
<ol id="turns" tabindex="0" aria-label="Turns"></ol></div></section></main>
<script type="application/json" id="frames">{data}</script>
<script type="importmap">{modules}</script>
<script type="module">import "viewer.js"</script></body></html>
"""


@click.command()
@click.argument("replay", metavar="REPLAY")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the page to FILE instead of opening it.",
)
def view(replay: str, output: Path | None) -> None:
    """Open a replay in the viewer of the web pages, without a server.

    The page is one HTML file that needs nothing else, so you can also send it to
    somebody or publish it.

    \b
    Examples:
      torres view game.json
      torres view game.json --output game.html
    """
    page = page_of(read_valid(replay), Path(replay).stem)
    if output is not None:
        output.write_text(page, encoding="utf-8")
        click.echo(str(output))
        return
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", prefix="torres-", suffix=".html", delete=False
    ) as file:
        file.write(page)
    address = Path(file.name).as_uri()
    click.echo(address)
    if not webbrowser.open(address):
        click.echo("no browser was found; open the address yourself", err=True)


def page_of(document: Replay, title: str) -> str:
    """Return the HTML page with the viewer for a valid replay."""
    text = json.dumps(frames.viewer_document(document), separators=(",", ":"))
    # A name must not end the element that holds the data.
    text = text.replace("<", "\\u003c")
    style = (STATIC / "site.css").read_text() + (
        STATIC / "viewer" / "viewer.css"
    ).read_text()
    return PAGE.format(
        title=html.escape(title),
        style=style,
        controls=_in_english(TEMPLATES / "_viewer_controls.html"),
        players="".join(
            _row(seat, str(player.get("name", "")))
            for seat, player in enumerate(document["players"])
        ),
        rail=_in_english(TEMPLATES / "_viewer_rail.html"),
        data=text,
        modules=_import_map(),
    )


def _row(seat: int, name: str) -> str:
    """Return the row of a player, which the script fills. Nothing below moves then."""
    return (
        f'<li data-seat="{seat}"><p class="who"><span class="chip seat{seat}">{seat}'
        f'</span><bdi class="name">{html.escape(name)}</bdi><strong class="score">'
        "</strong></p></li>"
    )


def _in_english(template: Path) -> str:
    """Return a template of the pages as HTML."""
    return _TAG.sub(r"\1", template.read_text())


def _import_map() -> str:
    """Return the modules as data addresses, because a file has no folder of scripts."""
    modules = {
        path.name: "data:text/javascript;base64,"
        + b64encode(_with_bare_names(path).encode()).decode()
        for path in sorted((STATIC / "viewer").glob("*.js"))
    }
    return json.dumps({"imports": modules})


def _with_bare_names(path: Path) -> str:
    """Return a script that imports by names, which have no meaning as addresses."""
    return _IMPORT.sub(r'\1"\2"', path.read_text(encoding="utf-8"))
