"""`torres audit` and `torres witness`: check a service from outside."""

import json
import sys
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from pathlib import Path

import click

from torres.auditing.auditor import AuditReport, Trust, audit as audit_service
from torres.auditing.cosignatures import Quorum
from torres.auditing.findings import Check
from torres.auditing.hand import OperatorsHand
from torres.auditing.mirror import CHECKPOINT, AuditFailed
from torres.auditing.pairings import PairingCounts
from torres.auditing.public_view import ReadLeaderboard
from torres.auditing.ratings import SeasonKey
from torres.auditing.statistics import ReadStatistics
from torres.auditing.tournaments import ReadTournament
from torres.auditing.witness import (
    SeenCheckpoint,
    Witness,
    cosigned_sizes,
    witness_key,
)
from torres.cli.client import LadderClient, Login, RemoteError, clean_address
from torres.cli.cosign import folder_of, witness_folder
from torres.cli.terminal import progress_bar
from torres.common.answers import BotAnswer, GameAnswer
from torres.common.json_object import JsonObject
from torres.common.moments import parse_moment
from torres.common.pause import pause
from torres.common.quoting import printable
from torres.tlog.leaves import document_digest
from torres.tlog.notes import BadKey

WITNESS_INTERVAL_S = 60.0
MAX_READS = 20
"""The pages of a leaderboard are read this often, until they fit together."""
READ_PAUSE_S = 0.5
MAX_SHOWN = 50
"""With more findings than this the first ones tell enough."""


class AuditRefused(click.ClickException):
    """The audit could not be made; the exit code is 2."""

    exit_code = 2


class RemoteService:
    """Reads over REST the part of a service that is not in the log."""

    def __init__(self, client: LadderClient) -> None:
        self._client = client

    def games(self) -> Iterator[GameAnswer]:
        for row in self._client.exported_games():
            yield row["game"]

    def replays(self) -> Iterator[tuple[int, JsonObject]]:
        for row in self._client.exported_replays():
            yield row["id"], row["replay"]

    def bots(self) -> Iterator[BotAnswer]:
        return self._client.bots()

    def datasets(self) -> dict[str, str]:
        return {
            day: document_digest(self._client.dataset_manifest(day))
            for day in self._client.datasets()
        }

    def tournaments(self) -> Iterator[ReadTournament]:
        for row in self._client.tournaments():
            lines = self._client.standings(row["slug"])
            started = parse_moment(row["started_at"] or "")
            yield ReadTournament(row["id"], row["slug"], started, lines)

    def leaderboards(self) -> Iterator[ReadLeaderboard]:
        for ladder in self._client.ladders():
            newest = ladder["season"]["number"] if ladder["season"] else 0
            for number in range(1, newest + 1):
                board = self._board(ladder["slug"], number)
                if board is not None:
                    yield board

    def _board(self, slug: str, season: int) -> ReadLeaderboard | None:
        """Read the pages of a leaderboard again until all have the same head.

        Return None if the service does not show this season.
        """
        for _ in range(MAX_READS):
            try:
                pages = list(self._client.leaderboard_pages(slug, season))
            except RemoteError as error:
                if error.status == HTTPStatus.NOT_FOUND:
                    return None
                raise
            head = pages[0]["head"]
            if head is not None and {page["head"] for page in pages} == {head}:
                rows = [row for page in pages for row in page["results"]]
                joint_seqs = {page.get("joint_seq") for page in pages}
                joint_seq = joint_seqs.pop() if len(joint_seqs) == 1 else None
                return ReadLeaderboard((slug, season), head, rows, joint_seq)
            pause(READ_PAUSE_S)
        raise _changing(f"The leaderboard of {slug}")

    def statistics(self, boards: Iterable[ReadLeaderboard]) -> Iterator[ReadStatistics]:
        newest = {board.season[0]: board for board in boards}
        for board in newest.values():
            for row in board.rows:
                read = self._statistics(board.season, row["id"], row["bot"])
                if read is not None:
                    yield read

    def _statistics(
        self, season: SeasonKey, bot: int, slug: str
    ) -> ReadStatistics | None:
        """Read the results of a bot until the service counts nothing meanwhile.

        Return None if another season has begun.
        """
        for _ in range(MAX_READS):
            record = self._client.counted_record(season[0], slug)
            opponents = list(self._client.opponents(season[0], slug)) if record else []
            answers = [answer for answer in (record, *opponents) if answer]
            if any(answer["season"] != season[1] for answer in answers):
                return None
            if all(answer["counted_seq"] is not None for answer in answers):
                return ReadStatistics(season, bot, slug, record, opponents)
            pause(READ_PAUSE_S)
        raise _changing(f"The statistics of {slug}")


def _changing(subject: str) -> AuditFailed:
    return AuditFailed(
        f"{subject} changed all the time while it was read."
        " Try again when fewer games are played."
    )


@click.command()
@click.argument("address")
@click.option("--folder", type=click.Path(path_type=Path), help="For the copy.")
@click.option("--key", help="The key of the log; by default that of the first audit.")
@click.option(
    "--witness",
    "witnesses",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A checkpoint that somebody else has kept, or the folder of a witness.",
)
@click.option("--witness-key", help="The key of that witness.")
@click.option(
    "--quorum",
    type=click.IntRange(0),
    help="How many witnesses have to have cosigned; by default all that the log names.",
)
@click.option(
    "--matchmaking", is_flag=True, help="Make all matches of ladders again, too."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def audit(  # noqa: PLR0913 - one parameter for each option
    address: str,
    *,
    folder: Path | None,
    key: str | None,
    witnesses: tuple[Path, ...],
    witness_key: str | None,
    quorum: int | None,
    matchmaking: bool,
    as_json: bool,
) -> None:
    """Check everything that a service shows against its public log.

    The command copies the log, checks its signature and every leaf, plays every replay
    again, computes all ratings from the results, and compares them with the
    leaderboards. The copy stays in a folder, so that the next audit notices if the log
    was changed. The exit code is 0 if everything fits together, 1 if something does
    not, and 2 if the audit could not be made.

    \b
    Examples:
      torres audit https://ladder.example.org
      torres audit https://ladder.example.org --witness friend.checkpoint
      torres audit https://ladder.example.org --matchmaking
    """
    address = clean_address(address)
    place = folder or folder_of(address)
    own = place / "witness"
    if not witnesses and witness_key is None and (own / CHECKPOINT).exists():
        witnesses = (own,)  # this machine has cosigned the log
    trust = Trust(key, witness_key, *_seen(witnesses), quorum)
    with LadderClient(Login(address, "")) as client, progress_bar() as progress:
        tasks = {
            name: progress.add_task(name, total=None) for name in ("leaves", "replays")
        }

        def show(step: str, done: int, total: int) -> None:
            progress.update(tasks[step], completed=done, total=total)

        try:
            report = audit_service(
                place,
                client.log_file,
                RemoteService(client),
                show,
                trust,
                matchmaking=matchmaking,
            )
        except (AuditFailed, BadKey) as error:
            raise AuditRefused(str(error)) from None
    click.echo(json.dumps(report.document()) if as_json else _text(report, place))
    sys.exit(1 if report.findings else 0)


def _seen(witnesses: Iterable[Path]) -> tuple[list[str], set[int]]:
    """Return the checkpoints of witnesses, and the sizes of trees in their folders."""
    texts = []
    sizes = set()
    for path in witnesses:
        if path.is_dir():
            sizes |= cosigned_sizes(path)
        file = path / CHECKPOINT if path.is_dir() else path
        texts.append(file.read_text(errors="replace"))
    return texts, sizes


def _text(report: AuditReport, folder: Path) -> str:
    origin, key = printable(report.head.origin), printable(str(report.key))
    lines = [f"log {origin}: {report.head.size:,} leaves, signed by {key}"]
    lines.append(
        f"{report.games:,} games; {report.replays:,} replays played again;"
        f" {report.entries:,} changes of ratings of {report.bots:,} bots repeated"
    )
    lines.append(
        f"{report.dealt:,} matches had decks before play; {report.witnessed:,} of them"
        " with the cosignatures of all witnesses that their batch names"
    )
    lines.append(_witness_line(report.quorum))
    if report.sealed:
        lines.append(f"{report.sealed:,} leaves are sealed until they are made public")
    if report.pairings is not None:
        lines.append(_pairings_line(report.pairings))
    lines += _hand_lines(report.hand)
    lines += [printable(str(finding)) for finding in report.findings[:MAX_SHOWN]]
    more = len(report.findings) - MAX_SHOWN
    if more > 0:
        lines.append(f"and {more:,} more findings; --json lists all")
    if report.findings:
        lines.append(f"Keep {folder}: it has what the log has signed.")
    else:
        checks = ", ".join(
            check
            for check in Check
            if check != Check.MATCHMAKING or report.pairings is not None
        )
        lines.append(f"Everything fits together ({checks}).")
    return "\n".join(lines)


def _witness_line(quorum: Quorum) -> str:
    """Return who has cosigned the log, or what an audit without witnesses proves."""
    if not quorum.named:
        return (
            "The log names no witness. So this audit proves that the log fits together"
            " and has grown from what you copied before, but not that others see the"
            " same log, or that the operator did not choose the decks"
        )
    names = ", ".join(
        f"{printable(name)} ({quorum.cosigned[name]:,} leaves)"
        if name in quorum.cosigned
        else f"{printable(name)} (none)"
        for name in quorum.named
    )
    return f"cosignatures of witnesses: {names}; {quorum.demanded:,} are demanded"


def _pairings_line(counts: PairingCounts) -> str:
    """Return how many matches of ladders were made again from the log."""
    line = (
        f"{counts.matches:,} matches of ladders made again, as {counts.sessions:,}"
        f" sessions of matchmakers made them; {counts.unwritten:,} more were not"
        " written, because a bot could no longer play"
    )
    if counts.unrecorded:
        line += f"; {counts.unrecorded:,} older ones have no record"
    return line


def _hand_lines(hand: OperatorsHand) -> list[str]:
    """Return what operators did, and the tests that a reader should look at."""
    if not hand.counts:
        return ["operator's hand: no act"]
    counts = ", ".join(f"{count:,} {name}" for name, count in hand.counts.items())
    few = hand.remarkable()[:MAX_SHOWN]
    return [
        f"operator's hand: {printable(counts)}",
        f"  {len(hand.tests):,} tests; unlikely by themselves: {len(few) or 'none'}",
        *(f"  {printable(str(test))}" for test in few),
    ]


@click.command()
@click.argument("address")
@click.option("--folder", type=click.Path(path_type=Path), help="For what was seen.")
@click.option("--name", default="witness", help="The name of a new witness.")
@click.option("--once", is_flag=True, help="Look once; otherwise look again and again.")
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=WITNESS_INTERVAL_S,
    show_default=True,
    help="Seconds between two looks.",
)
def witness(
    address: str, *, folder: Path | None, name: str, once: bool, every: float
) -> None:
    """Keep and cosign the checkpoints of a service's public log.

    A witness signs only a log that grows: its newest checkpoint has to begin with all
    leaves of the one before. So a service cannot show different logs to different
    people, if they ask the same witness. The first look makes a key. Send its public
    part, which the command prints, to the operator of the service. The newest
    cosigned checkpoint is in the file `checkpoint` of the folder, and the sizes of all
    cosigned trees are in `sizes`. Publish both, or give the folder to others for
    `torres audit --witness`.

    Decks follow from a cosignature only if it comes within a second. Look at least
    every half second for that.

    \b
    Examples:
      torres witness https://ladder.example.org --name ana.example.org
      torres witness https://ladder.example.org --every 0.3
      torres witness https://ladder.example.org --once
    """
    address = clean_address(address)
    place = folder or witness_folder(address)
    with LadderClient(Login(address, "")) as client:
        try:
            key = witness_key(place, name)
            click.echo(f"public key of this witness: {key.verifier}", err=True)
            observer = Witness(place, key, client.log_file)
        except (AuditFailed, BadKey) as error:
            raise AuditRefused(str(error)) from None
        seen = _look(observer, client)
        while not once:
            pause(every)
            try:
                seen = _look(observer, client, seen)
            except RemoteError as error:
                click.echo(f"{error.message}; trying again", err=True)


def _look(
    observer: Witness, client: LadderClient, before: SeenCheckpoint | None = None
) -> SeenCheckpoint:
    """Look once, and send the cosignature if it is not the one of the last look.

    A log that does not grow as it should ends the command.
    """
    try:
        seen = observer.look()
    except AuditFailed as error:
        raise AuditRefused(str(error)) from None
    if seen == before:
        return seen
    text = f"{printable(seen.head.origin)}: {seen.head.size:,} leaves, cosigned"
    refusal = client.send_cosignature(seen.text)
    if refusal:
        text += f"; not accepted by the service: {printable(refusal)}"
    click.echo(text)
    return seen
