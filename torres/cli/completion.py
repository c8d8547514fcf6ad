"""Completion in the shell, beyond what click knows by itself.

docs/cli.md has the line that switches completion on in bash, zsh and fish.
"""

from pathlib import Path

import click
from click.shell_completion import BashComplete, CompletionItem

from engine.editions import PRESETS

HOUSE_BOTS = Path(__file__).resolve().parent.parent / "house"
HOUSE = "house:"


def house_bots() -> list[str]:
    """Return the names of the bots that come with Torres Ladder, sorted."""
    return sorted(folder.name for folder in HOUSE_BOTS.iterdir() if folder.is_dir())


def house_bot(name: str) -> Path:
    """Return the folder of a bot of this name. Raises BadParameter."""
    names = house_bots()
    if name not in names:
        raise click.BadParameter(
            f"there is no house bot {name!r}; use one of {', '.join(names)}"
        )
    return HOUSE_BOTS / name


class BotType(click.ParamType[str]):
    """A bot on the command line: a file, a folder, an archive, or house:NAME."""

    name = "bot"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete house bots by their names, and everything else as a file.

        A shell that gets names offers no files beside them. So house bots are offered
        only when the first letters can be meant for one.
        """
        if incomplete and (
            HOUSE.startswith(incomplete) or incomplete.startswith(HOUSE)
        ):
            bots = [f"{HOUSE}{name}" for name in house_bots()]
            return [CompletionItem(bot) for bot in bots if bot.startswith(incomplete)]
        return [CompletionItem(incomplete, type="file")]


class RulesetType(click.ParamType[str]):
    """The name of a ruleset. `resolve` judges it, this class only completes it."""

    name = "ruleset"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        names = [name for name in PRESETS if name.startswith(incomplete)]
        return [CompletionItem(name) for name in names]


BOT = BotType()
RULESET = RulesetType()


class ColonBashComplete(BashComplete):
    """Completion for bash, in which ":" separates words, as in `house:greedy`."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor and the one at it, joined at colons."""
        args, incomplete = super().get_completion_args()
        words: list[str] = []
        for word in [*args, incomplete]:
            follows = bool(words) and (word.startswith(":") or words[-1].endswith(":"))
            if follows:
                words[-1] += word
            else:
                words.append(word)
        return words[:-1], words[-1]

    def format_completion(self, item: CompletionItem) -> str:
        """Keep only the text after the last colon: bash has the rest already."""
        _, incomplete = self.get_completion_args()
        before = len(incomplete) - len(incomplete.rpartition(":")[2])
        return f"{item.type},{item.value[before:]}"
