"""The table of the subcommands of `torres`, which are imported only when they run.

Each command imports what it needs: a sandbox, a table printer, the whole engine. The
group imports the module of the command that was asked for and no other one, so that
every command, every help page and every completion starts fast.
"""

from dataclasses import dataclass
from importlib import import_module

import click
from click.shell_completion import CompletionItem


@dataclass(frozen=True, slots=True)
class CommandHome:
    """The module of a command, its name there, and its line in `torres --help`."""

    module: str
    attribute: str
    summary: str

    def load(self) -> click.Command:
        """Import the command."""
        command: click.Command = getattr(import_module(self.module), self.attribute)
        return command


COMMANDS = {
    "new": CommandHome("torres.cli.new", "new", "Write a first bot in a language."),
    "check": CommandHome(
        "torres.cli.check",
        "check",
        "Look for mistakes of a bot that would lose games on a ladder.",
    ),
    "play": CommandHome(
        "torres.cli.play", "play", "Play games between bots on this machine."
    ),
    "match": CommandHome(
        "torres.cli.match",
        "match",
        "Play many games on all processors, and print a table.",
    ),
    "compare": CommandHome(
        "torres.cli.compare",
        "compare",
        "Find out whether a new version of a bot is better than the old one.",
    ),
    "ladder": CommandHome(
        "torres.cli.ladder",
        "ladder",
        "Play a rated ladder between the bots in a folder.",
    ),
    "tournament": CommandHome(
        "torres.cli.tournament",
        "tournament",
        "Play the tournament that a file describes, or resume it.",
    ),
    "selfplay": CommandHome(
        "torres.learning.selfplay",
        "selfplay",
        "Write games of bots as data for programs that learn.",
    ),
    "verify": CommandHome(
        "torres.cli.replays",
        "verify",
        "Play each replay again and check that it is valid.",
    ),
    "audit": CommandHome(
        "torres.cli.audit",
        "audit",
        "Check everything that a service shows against its public log.",
    ),
    "witness": CommandHome(
        "torres.cli.audit",
        "witness",
        "Keep and cosign the checkpoints of a service's public log.",
    ),
    "show": CommandHome(
        "torres.cli.replays", "show", "Show the boards of a replay, step by step."
    ),
    "view": CommandHome(
        "torres.cli.view", "view", "Open a replay in the viewer of the web pages."
    ),
    "render": CommandHome(
        "torres.cli.render", "render", "Draw a replay as .svg, .png or animated .gif."
    ),
    "analyse": CommandHome(
        "torres.cli.analyse",
        "analyse",
        "Find the turns that decided a game, and what else was possible.",
    ),
    "trace": CommandHome(
        "torres.cli.replays", "trace", "Print each action of a replay as JSON."
    ),
    "rulesets": CommandHome(
        "torres.cli.rulesets", "rulesets", "List the rulesets with their switches."
    ),
    "login": CommandHome(
        "torres.cli.remote", "login", "Store the address of a ladder and your token."
    ),
    "logout": CommandHome(
        "torres.cli.remote", "logout", "Forget the token for a ladder."
    ),
    "submit": CommandHome(
        "torres.cli.submit",
        "submit",
        "Upload a bot and follow it to its first rated game.",
    ),
    "status": CommandHome(
        "torres.cli.remote", "status", "Print the ratings and faults of your bots."
    ),
    "join": CommandHome("torres.cli.join", "join", "Let your bot join a ladder."),
    "leave": CommandHome("torres.cli.join", "leave", "Take your bot off a ladder."),
    "leaderboard": CommandHome(
        "torres.cli.remote", "leaderboard", "Print the leaderboard of a ladder."
    ),
    "logs": CommandHome(
        "torres.cli.remote", "logs", "Print what your bots wrote in a game."
    ),
    "replays": CommandHome(
        "torres.cli.remote", "replays", "Download replays from a ladder."
    ),
    "watch": CommandHome("torres.cli.remote", "watch", "Follow a running game."),
    "reproduce": CommandHome(
        "torres.cli.reproduce",
        "reproduce",
        "Play a game of the ladder again with your bot, up to the first difference.",
    ),
    "ask": CommandHome(
        "torres.cli.reproduce", "ask", "Put one position of a game to a bot."
    ),
    "doctor": CommandHome(
        "torres.cli.doctor", "doctor", "Test which sandbox this machine reaches."
    ),
}
"""The subcommands in the order of `torres --help`."""


class LazyGroup(click.Group):
    """A group that imports a subcommand when it is used, and lists it without that."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        home = COMMANDS.get(cmd_name)
        return home.load() if home else None

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
