"""`torres view`: the viewer of the web pages for a local replay, in one HTML file."""

import html
import json
import re
import tempfile
import webbrowser
from base64 import b64encode
from pathlib import Path

import click

from engine.documents import MoveEntry, Replay
from torres.cli.replay_files import read_valid
from torres.drawing import frames

VIEWER = Path(__file__).resolve().parent.parent / "viewer"
STATIC = VIEWER / "static"
_IMPORT = re.compile(r'from "\./([a-z]+\.js)"')
PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';
 style-src 'unsafe-inline'; script-src 'unsafe-inline' data:">
<title>{title}</title><style>{style}</style></head>
<body><main id="main" tabindex="-1"><h1>{title}</h1>
<section id="viewer" aria-label="Replay" hidden>{viewer}</section>
<h2>Moves</h2><ol class="moves" id="moves" start="0">{moves}</ol></main>
<script type="application/json" id="frames">{data}</script>
<script type="module">{script}</script></body></html>
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
        viewer=(VIEWER / "templates" / "web" / "_viewer.html").read_text(),
        moves="".join(map(_move, range(len(document["moves"])), document["moves"])),
        data=text,
        script=_bundled("viewer.js"),
    )


def _move(index: int, move: MoveEntry) -> str:
    seat = move["seat"]
    actions = html.escape("  ·  ".join(move["actions"]))
    return (
        f'<li data-move="{index}"><span class="chip seat{seat}">{seat}</span>'
        f" <code>{actions}</code></li>"
    )


def _bundled(name: str) -> str:
    """Return a module whose imports are data addresses instead of files."""
    source = (STATIC / "viewer" / name).read_text(encoding="utf-8")

    def inline(found: re.Match[str]) -> str:
        code = b64encode(_bundled(found[1]).encode()).decode()
        return f'from "data:text/javascript;base64,{code}"'

    return _IMPORT.sub(inline, source)
