"""The boards of a replay as text for a terminal: the pages of `torres show`."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from rich.text import Text

from engine.replay import trace
from torres.common.json_object import JsonObject
from torres.common.quoting import printable

_SEATS = "ABCD"  # the letters that stand for the knights of each seat
_COLOURS = ("red", "blue", "green", "yellow")
_KING = "K"
_GREYS = (235, 238, 240, 242, 244, 246, 248, 250)  # of 256 colours, by height
_COLUMNS = "abcdefgh"


def frames(document: object, *, every_action: bool = False) -> Iterator[Text]:
    """Yield a page for each turn or other decision, and one for the end of the game.

    A page shows the actions and the board after them. With ``every_action`` there is a
    page for each action. Raises InvalidReplay.
    """
    lines: list[Any] = list(trace(document))
    names = [player["name"] for player in document["players"]]  # type: ignore[index]
    actions: list[str] = []
    for line, after in pairwise(lines):
        actions.append(line["action"])
        if every_action or _ends_page(line):
            yield _page(line, actions, after["state"], names)
            actions = []
    if actions:
        yield _page(lines[-2], actions, lines[-1]["state"], names)
    yield _end(lines[-1])


def _ends_page(line: JsonObject) -> bool:
    """True if the page ends with this action. A turn lasts until its `end`."""
    is_end = line["action"].split(" ")[0] == "end"
    return is_end or line["decision"] not in ("turn", "keep")


def _page(
    line: JsonObject, actions: list[str], state: JsonObject, names: list[str]
) -> Text:
    seat = line["seat"]
    before = line["state"]
    page = Text()
    page.append(f"{line['n'] + 1}. phase {before['phase']} round {before['round']}  ")
    page.append(f"{_SEATS[seat]} {printable(names[seat])}: ", style=_COLOURS[seat])
    page.append(", ".join(actions) + "\n")
    page.append_text(draw_board(state))
    page.append_text(_seats(state, names))
    return page


def draw_board(state: JsonObject) -> Text:
    """Draw the rows from 8 down to 1: the height and the piece on each space."""
    pieces = {state["king"]: (_KING, "bold white")}
    for seat, knights in enumerate(state["knights"]):
        for space in knights:
            pieces[space] = (_SEATS[seat], f"bold {_COLOURS[seat]}")
    board = Text()
    for row in range(8, 0, -1):
        board.append(f"{row} ")
        for column, height in zip(_COLUMNS, state["heights"][row - 1], strict=True):
            piece, style = pieces.get(f"{column}{row}", (" ", ""))
            ground = f"on color({_GREYS[min(height, 7)]})" if height else ""
            board.append(f"{height or '.':>2}", style=ground)
            board.append(piece, style=f"{style} {ground}".strip())
        board.append("\n")
    board.append("   " + "  ".join(_COLUMNS) + "\n")
    return board


def _seats(state: JsonObject, names: list[str]) -> Text:
    text = Text()
    for seat, name in enumerate(names):
        text.append(f"{_SEATS[seat]} {printable(name):<20.20}", style=_COLOURS[seat])
        stacks = ",".join(map(str, state["stacks"][seat])) or "-"
        text.append(
            f" {state['scores'][seat]:>4} points  {state['reserve'][seat]} knights"
            f"  stacks {stacks}  cards {' '.join(state['hands'][seat]) or '-'}"
        )
        text.append("  forfeited\n" if seat in state["forfeited"] else "\n")
    return text


def _end(line: JsonObject) -> Text:
    result = line["result"]
    if result is None:
        return Text("The game is not finished.")
    seats = zip(result["ranks"], _SEATS, result["scores"], strict=False)
    ranking = ", ".join(
        f"{rank}. {seat} {score}" for rank, seat, score in sorted(seats)
    )
    return Text(f"{result['reason']}: {ranking}")
