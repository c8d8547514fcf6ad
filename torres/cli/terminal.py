"""Tables and progress bars, as several commands print them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from torres.common.quoting import printable


def plain_table(
    *heads: str,
    texts: Collection[str] = ("bot",),
    title: str | None = None,
    whole_texts: bool = False,
) -> Table:
    """Return a table without lines. All columns but those of ``texts`` are numbers.

    In a narrow terminal the texts are broken, or with ``whole_texts`` the headings.
    """
    table = Table(title=title, box=None, pad_edge=False, header_style="bold")
    for head in heads:
        if head in texts:
            table.add_column(head, overflow="fold", no_wrap=whole_texts)
        else:
            table.add_column(head, justify="right", no_wrap=not whole_texts)
    return table


def leaderboard_table(
    rows: Iterable[Mapping[str, Any]],
    *,
    more: Sequence[str] = (),
    title: str | None = None,
) -> Table:
    """Return the table of a leaderboard. ``more`` are columns after the usual ones."""
    heads = ("rank", "bot", "rating", "μ", "σ", "games", "forfeits", *more)
    table = plain_table(*heads, title=title)
    for row in rows:
        table.add_row(
            str(row["rank"]),
            Text(printable(row["name"])),
            f"{row['rating']:.1f}",
            f"{row['mu']:.1f}",
            f"{row['sigma']:.1f}",
            str(row["games"]),
            str(row["forfeits"]),
            *(str(row[name]) for name in more),
        )
    return table


def progress_bar(*, counts: bool = True) -> Progress:
    """Return a progress bar on stderr, which is not shown if stderr is no terminal.

    If the bar ``counts`` its steps, it shows their number and the time that is left.
    """
    errors = Console(stderr=True)
    numbers = (MofNCompleteColumn(), TimeRemainingColumn()) if counts else ()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *numbers,
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    )
