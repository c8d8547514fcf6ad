"""The boards of a replay or a position for a terminal: the pages of `torres show`."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from rich.text import Text

from engine.faults import EndReason
from engine.position_text import PlacedPosition, text_of_state
from engine.replay import trace
from engine.replay_format import open_game
from engine.rulesets import Rules
from torres.common.json_object import JsonObject
from torres.common.quoting import printable

_SEATS = "ABCD"  # the letters that stand for the knights of each seat
_COLOURS = ("red", "blue", "green", "yellow")
_KING = "K"
_GREYS = (235, 238, 240, 242, 244, 246, 248, 250)  # of 256 colours, by height
_COLUMNS = "abcdefgh"


def frames(document: object, *, every_action: bool = False) -> Iterator[Text]:
    """Yield a page for each turn or other decision, and one for the end of the game.

    A page shows the actions, the board after them and the text of the position. With
    ``every_action`` there is a page for each action. Raises InvalidReplay.
    """
    lines: list[Any] = list(trace(document))
    names = [player["name"] for player in document["players"]]  # type: ignore[index]
    rules = open_game(document).rules
    actions: list[str] = []
    for line, after in pairwise(lines):
        actions.append(line["action"])
        if every_action or _ends_page(line):
            yield _page(line, actions, after, names).append_text(_copy(rules, after))
            actions = []
    if actions:
        yield _page(lines[-2], actions, lines[-1], names)
    yield _end(lines[-1])


def position_page(placed: PlacedPosition) -> Text:
    """Return the page of one position, with its text in the canonical form."""
    state = placed.state
    page = Text(f"phase {state['phase']} round {state['round']}  ")
    seat = state["seat"]
    if seat is None:
        page.append("the game is over\n")
    else:
        page.append(f"{_SEATS[seat]} decides: {placed.decision}", style=_COLOURS[seat])
        page.append(f", {state['ap']} action points\n" if state["ap"] else "\n")
    page.append_text(draw_board(state))
    page.append_text(_seats(state, seat_names(placed)))
    line: JsonObject = {"decision": placed.decision, "state": state}
    return page.append_text(_copy(placed.rules, line))


def seat_names(placed: PlacedPosition) -> list[str]:
    """Return names for the seats of a position, which has no players."""
    return [f"seat {seat}" for seat in range(placed.rules.seats)]


def _copy(rules: Rules, line: JsonObject) -> Text:
    """Return the text of the position of a line of a trace, for people to copy.

    The last line of a game that was not played to its end names no decision.
    """
    completed = (line.get("result") or {}).get("reason") == EndReason.COMPLETED
    decision = line.get("decision") or ("over" if completed else None)
    if decision is None:
        return Text()
    return Text(text_of_state(rules, decision, line["state"]) + "\n", style="dim")


def _ends_page(line: JsonObject) -> bool:
    """True if the page ends with this action. A turn lasts until its `end`."""
    is_end = line["action"].split(" ")[0] == "end"
    return is_end or line["decision"] not in ("turn", "keep")


def _page(
    line: JsonObject, actions: list[str], after: JsonObject, names: list[str]
) -> Text:
    seat = line["seat"]
    state = after["state"]
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
