"""The table of the subcommands of `torres`, which are imported only when they run.

Each command imports what it needs: a sandbox, a table printer, the whole engine. The
group imports the module of the command that was asked for and no other one, so that
every command, every help page and every completion starts fast.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module

import click
from click.shell_completion import CompletionItem


@dataclass(frozen=True, slots=True)
class CommandHome:
    """A command: its name, its module, and its line in `torres --help`.

    In its module the name has underscores.
    """

    name: str
    module: str
    summary: str

    def load(self) -> click.Command:
        """Import the command."""
        command: click.Command = getattr(
            import_module(f"torres.{self.module}"), self.name.replace("-", "_")
        )
        return command


COMMANDS = {
    row[0]: CommandHome(*row)
    for row in (
        ("new", "cli.new", "Write a first bot in a language."),
        (
            "check",
            "cli.check",
            "Look for mistakes of a bot that would lose games on a ladder.",
        ),
        (
            "vendor",
            "cli.vendor",
            "Put Python packages into the folder of a bot, for a ladder.",
        ),
        ("play", "cli.play", "Play games between bots on this machine."),
        ("match", "cli.match", "Play many games on all processors, and print a table."),
        (
            "compare",
            "cli.compare",
            "Find out whether a new version of a bot is better than the old one.",
        ),
        ("ladder", "cli.ladder", "Play a rated ladder between the bots in a folder."),
        (
            "tournament",
            "cli.tournament",
            "Play the tournament that a file describes, or resume it.",
        ),
        (
            "selfplay",
            "learning.selfplay",
            "Write games of bots as data for programs that learn.",
        ),
        ("verify", "cli.replays", "Play each replay again and check that it is valid."),
        (
            "audit",
            "cli.audit",
            "Check everything that a service shows against its public log.",
        ),
        (
            "witness",
            "cli.audit",
            "Keep and cosign the checkpoints of a service's public log.",
        ),
        ("show", "cli.replays", "Show the boards of a replay, step by step."),
        ("view", "cli.view", "Open a replay in the viewer of the web pages."),
        ("render", "cli.render", "Draw a replay as .svg, .png or animated .gif."),
        (
            "analyse",
            "cli.analyse",
            "Find the turns that decided a game, and what else was possible.",
        ),
        ("trace", "cli.replays", "Print each action of a replay as JSON."),
        ("rulesets", "cli.rulesets", "List the rulesets with their switches."),
        ("login", "cli.remote", "Store the address of a ladder and your token."),
        ("logout", "cli.remote", "Forget the token for a ladder."),
        ("submit", "cli.submit", "Upload a bot and follow it to its first rated game."),
        ("status", "cli.remote", "Print the ratings and faults of your bots."),
        ("join", "cli.join", "Let your bot join a ladder."),
        ("leave", "cli.join", "Take your bot off a ladder."),
        ("leaderboard", "cli.remote", "Print the leaderboard of a ladder."),
        ("logs", "cli.remote", "Print what your bots wrote in a game."),
        ("replays", "cli.remote", "Download replays from a ladder."),
        ("watch", "cli.remote", "Follow a running game."),
        (
            "reproduce",
            "cli.reproduce",
            "Play a game of the ladder again with your bot,"  # noqa: ISC004
            " up to the first difference.",
        ),
        ("ask", "cli.reproduce", "Put one position of a game to a bot."),
        ("doctor", "cli.doctor", "Test which sandbox this machine reaches."),
        (
            "self-check",
            "cli.self_check",
            "Compare the versions of this command and of a ladder.",
        ),
    )
}
"""The subcommands in the order of `torres --help`."""
PLAYING = frozenset(
    {"analyse", "audit", "check", "compare", "ladder", "match", "play", "reproduce"}
    | {"selfplay", "submit", "tournament", "verify"}
)
"""The commands that play with the engine: an uncompiled engine makes them slow."""


class LazyGroup(click.Group):
    """A group that imports a subcommand when it is used, and lists it without that."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        home = COMMANDS.get(cmd_name)
        return home.load() if home else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments begin with; suggest a similar one."""
        if not ctx.resilient_parsing and args[0] not in COMMANDS:
            near = get_close_matches(args[0], COMMANDS, 1)
            cure = f"Did you mean {near[0]}?" if near else "See torres --help."
            ctx.fail(f"There is no command {args[0]!r}. {cure}")
        return super().resolve_command(ctx, args)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, home.summary) for name, home in COMMANDS.items()]
            )

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list[CompletionItem]:
        """Complete the names of subcommands, and the options of the group itself."""
        names = [
            CompletionItem(name, help=home.summary)
            for name, home in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)
