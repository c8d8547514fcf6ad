"""`torres new`: a folder with a first bot, its README and its test."""

import shutil
import tomllib
from pathlib import Path

import click

KITS = Path(__file__).resolve().parent.parent / "kits"
_SEARCH_KITS = {"python": "python-search"}
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*")
_EDITOR_FILES = ("tasks", "launch")
_PROGRAM_MODE = 0o755


def kits() -> dict[str, dict[str, str]]:
    """Return the texts of each kit by its name, in the order of kits.toml."""
    return tomllib.loads((KITS / "kits.toml").read_text("utf-8"))


def write_kit(name: str, folder: Path) -> list[Path]:
    """Copy a kit into a new or empty folder; return its files, sorted.

    The folder also gets files for editors.

    Raises FileExistsError if the folder holds anything.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(folder)
    texts = kits()[name]
    shutil.copytree(KITS / name, folder, dirs_exist_ok=True, ignore=_LEFT_OUT)
    template = (KITS / "readme-template.txt").read_text("utf-8")
    (folder / "README.md").write_text(template.format(**texts), "utf-8")
    _copy_editor_files(folder, python=name in {"python", "python-search"})
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files:
        # Neither a wheel nor every file system keeps the mode of a script.
        if path.read_bytes().startswith(b"#!"):
            path.chmod(_PROGRAM_MODE)
    return files


def _copy_editor_files(folder: Path, *, python: bool) -> None:
    """Write the tasks of VS Code, and what F5 starts, into the folder `.vscode`.

    Only a bot in Python has a debugger. Uploads leave out folders whose names begin
    with a dot. The files are JSON without comments, which other editors read, too.
    """
    target = folder / ".vscode"
    target.mkdir()
    for name in _EDITOR_FILES:
        source = f"vscode-{name}-python.json" if python else f"vscode-{name}.json"
        shutil.copyfile(KITS / source, target / f"{name}.json")


@click.command()
@click.argument("language", type=click.Choice(list(kits())))
@click.argument(
    "folder", required=False, metavar="[DIR]", type=click.Path(path_type=Path)
)
@click.option(
    "--search", is_flag=True, help="Start with a bot that searches (python only)."
)
def new(*, language: str, folder: Path | None, search: bool) -> None:
    """Write a first bot in LANGUAGE into the folder DIR.

    The bot plays legal games. A README, a test of the bot's own functions, and tasks
    for VS Code come with it. DIR is LANGUAGE-bot by default, and it must be new or
    empty.

    `python-search` is the same as `python --search`: a bot that plans whole turns with
    the engine and beats house:greedy. `executable` is for all other languages.

    \b
    Examples:
      torres new python my-bot
      torres new python --search climber
      torres new rust
    """
    if search:
        if language not in {*_SEARCH_KITS, *_SEARCH_KITS.values()}:
            raise click.BadParameter(
                f"there is no search kit for {language}; use python",
                param_hint="--search",
            )
        language = _SEARCH_KITS.get(language, language)
    folder = folder or Path(f"{language}-bot")
    try:
        files = write_kit(language, folder)
    except FileExistsError as error:
        raise click.BadParameter(
            f"{folder} is not empty; name another folder", param_hint="DIR"
        ) from error
    click.echo(
        f"{folder}: {', '.join(str(path.relative_to(folder)) for path in files)}"
    )
    click.echo("Next:")
    for line in (
        f"cd {folder}",
        f"{kits()[language]['test']}  # the bot's own tests",
        "torres check .",
        "torres play . house:random",
    ):
        click.echo(f"  {line}")
