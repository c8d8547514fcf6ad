"""Cosign the public log of a service while an author uses it (docs/public-log.md)."""

import hashlib
from http import HTTPStatus
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from threading import Thread

import click

from torres.cli.client import LadderClient, Login, RemoteError
from torres.cli.results_folder import state_home
from torres.common.quoting import printable

TIMEOUT_S = 10.0
"""A service may not hold up a command longer than this."""

cosign_option = click.option(
    "--cosign/--no-cosign",
    "with_cosign",
    default=None,
    envvar="TORRES_COSIGN",
    help="Cosign the public log of the service as a witness; by default yes.",
)


def folder_of(address: str) -> Path:
    """Return the folder in which the copy of a service's log is kept."""
    digest = hashlib.sha256(address.encode()).hexdigest()[:12]
    return state_home() / "audits" / digest


def witness_folder(address: str) -> Path:
    """Return the folder of this machine's witness of a service's log."""
    return folder_of(address) / "witness"


def cosign(address: str, *, wanted: bool) -> None:
    """Cosign the newest checkpoint of a service's log, and send the cosignature.

    A failure is one line on stderr and no error, because the command has done its work.
    `wanted` means that the author has asked for it; otherwise an installation that
    cannot sign does not, and says nothing.
    """
    if not wanted and find_spec("cryptography") is None:
        return
    problems: list[str] = []
    work = Thread(target=_cosign, args=(address, problems), daemon=True)
    work.start()
    work.join(TIMEOUT_S)
    if work.is_alive():
        problems.append(f"{address} did not send it within {TIMEOUT_S:.0f} s")
    for problem in problems:
        text = " ".join(printable(problem).split())
        click.echo(f"torres: the public log was not cosigned: {text}", err=True)


def _cosign(address: str, problems: list[str]) -> None:
    """Cosign, and append what went wrong."""
    try:
        witness = import_module("torres.auditing.witness")
    except ModuleNotFoundError as error:
        problems.append(
            f"this needs the package {error.name}; pip install 'torres-ladder[audit]',"
            " or set TORRES_COSIGN=0"
        )
        return
    folder = witness_folder(address)
    try:
        # The service sees the name of the key, which tells nothing about the author.
        key = witness.witness_key(folder, f"author-{token_hex(8)}")
        with LadderClient(Login(address, "")) as client:
            seen = witness.Witness(folder, key, client.log_file).look()
            # A service refuses keys that its operator does not list, and that is fine:
            # the cosigned checkpoint stays on this machine.
            client.send_cosignature(seen.text)
    except RemoteError as error:
        if error.status != HTTPStatus.NOT_FOUND:  # nothing was logged yet
            problems.append(error.message)
    except (witness.AuditFailed, OSError, ValueError) as error:
        problems.append(str(error))
