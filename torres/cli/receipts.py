"""`torres verify --receipt`: check a replay or a bot against a receipt."""

import json
import sys
from pathlib import Path

import click

from torres.auditing import receipt_check
from torres.cli.bot_files import bot_digest
from torres.cli.play import find_bot
from torres.cli.replay_files import read_valid
from torres.common.json_object import JsonObject
from torres.common.quoting import printable
from torres.tlog.notes import BadKey, VerifierKey
from torres.tlog.receipts import MAX_RECEIPT_BYTES, BadReceipt, Receipt, parse_receipt

PROVED, NOT_PROVED = 0, 1  # the exit codes
BAD_ARGUMENT = 2


class BadProof(click.ClickException):
    """The receipt proves nothing, whatever it is about."""

    exit_code = NOT_PROVED


def verify_receipt(
    paths: tuple[str, ...], file: str, key: str | None, *, as_json: bool
) -> None:
    """Check one replay or bot against a receipt, print the result, and exit."""
    if len(paths) != 1:
        raise click.UsageError("--receipt is about one replay, or about one bot")
    if key is None:
        raise click.UsageError(
            "--receipt needs --key: the key of the log, from the page /log/"
        )
    receipt = _read(file)
    try:
        log_key = VerifierKey.parse(key)
        head, _ = receipt.verify(log_key)
        found = _problems(receipt, paths[0])
        about = receipt_check.describe(receipt)
    except BadKey as error:
        raise click.BadParameter(str(error), param_hint="--key") from None
    except BadReceipt as error:
        raise BadProof(f"{printable(file)}: {error}") from None
    document = {
        "receipt": printable(file),
        "about": about,
        "log": head.origin,
        "index": receipt.index,
        "size": head.size,
        "decks": receipt_check.decks_are_checked(receipt),
        "problems": found,
    }
    click.echo(json.dumps(document) if as_json else _text(document))
    sys.exit(NOT_PROVED if found else PROVED)


def _read(file: str) -> Receipt:
    with Path(file).open(encoding="utf-8", errors="replace") as stream:
        text = stream.read(MAX_RECEIPT_BYTES + 1)
    try:
        return parse_receipt(text)
    except BadReceipt as error:
        raise BadProof(f"{printable(file)}: {error}") from None


def _problems(receipt: Receipt, path: str) -> list[str]:
    if Path(path).suffix == ".json":
        return list(receipt_check.check_game(receipt, read_valid(path)))
    return list(receipt_check.check_upload(receipt, bot_digest(find_bot(path))))


def _text(document: JsonObject) -> str:
    log = printable(document["log"])
    place = f"leaf {document['index']:,} of {document['size']:,} of {log}, signed"
    lines = [str(document["about"]), place]
    lines += [f"wrong: {printable(problem)}" for problem in document["problems"]]
    if not document["problems"]:
        is_game = "game-finished" in document["about"]
        decks = (
            "its decks follow from the secret that was committed to before"
            if document["decks"]
            else "the secret of its decks is not public yet; get a new receipt later"
        )
        lines.append(f"proved{f'; {decks}' if is_game else ''}")
    return "\n".join(lines)
