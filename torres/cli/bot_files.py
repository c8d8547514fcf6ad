"""The files that a local bot consists of, and their digest."""

from collections.abc import Sequence
from dataclasses import replace

from torres.checking.staging import uploaded_files
from torres.cli.play import LocalBot
from torres.upload.archive import digest


def bot_digest(bot: LocalBot) -> str:
    """Return the SHA-256 of a bot's files, which tells whether the bot has changed."""
    sha256, _ = digest(bot.program.folder, bot_files(bot))
    return sha256


def bot_files(bot: LocalBot) -> list[str]:
    """Return the paths of a bot's files, relative to its folder.

    A bot that is named as a folder consists of the files that an upload of it holds. A
    bot that is named as a file consists of that file.
    """
    if bot.is_file:
        return [bot.program.entry]
    folder = bot.program.folder
    files = uploaded_files(folder)
    return [path.relative_to(folder).as_posix() for path in files]


def with_unique_names(bots: Sequence[LocalBot]) -> list[LocalBot]:
    """Number bots with the same name, so that the standings tell them apart."""
    names = [bot.name for bot in bots]
    unique = []
    for k, bot in enumerate(bots):
        if names.count(bot.name) > 1:
            number = names[: k + 1].count(bot.name)
            unique.append(replace(bot, name=f"{bot.name} ({number})"))
        else:
            unique.append(bot)
    return unique
