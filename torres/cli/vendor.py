"""`torres vendor`: puts Python packages into the folder of a bot."""

import os
import re
from pathlib import Path

import click
from packaging.requirements import InvalidRequirement, Requirement

from torres.checking.packages import LOCK
from torres.checking.staging import uploaded_files
from torres.cli.client import LadderClient, RemoteError, find_login, saved_logins
from torres.cli.remote import ladder_option
from torres.cli.wheels import WheelTarget, vendor_wheels
from torres.common.quoting import printable
from torres.runner.tool_versions import (
    OLDEST_PYTHON,
    PythonVersion,
    python_number,
    version_here,
)

PROCESSORS = ("x86_64", "aarch64")
_MIB = 1 << 20


class PythonVersionType(click.ParamType[PythonVersion]):
    """A version of Python as in 3.11; the language of a bot needs at least that one."""

    name = "version"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> PythonVersion:
        text = str(value)
        version = python_number(text) if re.fullmatch(r"\d+\.\d+", text) else None
        if version is None or version < OLDEST_PYTHON:
            self.fail(f"{text!r} is not a version such as 3.11 or 3.12", param, ctx)
        return version


@click.command()
@click.argument("packages", nargs=-1, metavar="[PACKAGE]...")
@click.option(
    "--into",
    "folder",
    default=".",
    show_default="this folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False, writable=True),
    help="The folder of the bot.",
)
@click.option(
    "--python",
    type=PythonVersionType(),
    metavar="VERSION",
    help="The Python of the ladder; by default the ladder says which one it has.",
)
@click.option(
    "--processor",
    default=PROCESSORS[0],
    show_default=True,
    type=click.Choice(PROCESSORS),
    help="The processors of the ladder's workers.",
)
@ladder_option
def vendor(
    *,
    packages: tuple[str, ...],
    folder: Path,
    python: PythonVersion | None,
    processor: str,
    address: str | None,
) -> None:
    """Put Python packages into the folder of a bot, as a ladder needs them.

    A ladder installs nothing, so a bot brings its packages. pip fetches wheels for the
    Python and the system of the ladder, and this command puts their files beside the
    bot, without tests and sources. The folder then holds these packages with what they
    need, and none of an earlier run. Without a name, it fetches the files again that
    `vendored.txt` names by their hashes.

    If you are logged in to no ladder, the wheels are for the Python that runs bots on
    this machine.

    \b
    Examples:
      torres vendor numpy
      torres vendor "numpy>=2,<3" onnxruntime --into my-bot
      torres vendor --python 3.13
    """
    for text in packages:
        _check_requirement(text)
    if not packages and not (folder / LOCK).is_file():
        raise click.UsageError(
            f"{folder / LOCK} does not exist; name packages, as in torres vendor numpy"
        )
    target = WheelTarget(python or _python_of(address), processor)
    click.echo(f"Fetching wheels for {target} …", err=True)
    wheels = vendor_wheels(folder.resolve(), target, packages)
    for wheel in wheels:
        click.echo(f"{wheel.name} {wheel.version}")
    files = list(uploaded_files(folder))
    size = sum(file.stat().st_size for file in files)
    click.echo(
        f"An upload of {folder} has {len(files):,} files and {size / _MIB:,.0f} MiB."
        f" Next: torres check {folder}",
        err=True,
    )


def _check_requirement(text: str) -> None:
    """Check that a text names a package of an index. Raises BadParameter."""
    try:
        url = Requirement(text).url
    except InvalidRequirement:
        url = text
    if url is not None:
        raise click.BadParameter(
            f"{printable(text)!r} is not a package such as numpy or 'numpy>=2'",
            param_hint="PACKAGE",
        )


def _python_of(address: str | None) -> PythonVersion:
    """Return the Python of the workers of a ladder; without one, that of this machine.

    Raises RemoteError if the ladder does not say which Python it has.
    """
    if not (address or saved_logins() or os.environ.get("TORRES_LADDER")):
        return version_here()
    with LadderClient(find_login(address)) as client:
        rows = [row for row in client.languages() if row["name"] == "python"]
        lines = sorted({line for row in rows for line in row["versions"]})
        numbers = {number for line in lines if (number := python_number(line))}
        if len(numbers) == 1:
            return numbers.pop()
        found = " and ".join(printable(line) for line in lines) or "no version"
        raise RemoteError(
            f"{client.login.address} names {found} for bots, so name the version"
            " yourself, as in --python 3.11"
        )
