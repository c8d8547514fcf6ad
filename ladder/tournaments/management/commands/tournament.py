"""`manage.py tournament FILE`: create the tournament that a TOML file describes."""

import tomllib
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from ladder.accounts.roles import is_organiser
from ladder.common.arguments import whole_number
from ladder.common.commands import ServiceCommand
from ladder.common.storable import storable
from ladder.moderation.audit import Operator
from ladder.tournaments import organising
from ladder.tournaments.description import BadTournament
from ladder.tournaments.document import TournamentDocument, read_document
from ladder.tournaments.organising import Step
from ladder.tournaments.preview import TournamentPreview, preview_document
from ladder.tournaments.services import MIN_ENTRANTS
from torres.common.errors import BadFields, LadderError
from torres.common.quoting import quoted
from torres.formats.config import MAX_ENTRANTS

MAX_FILE_BYTES = 1 << 20


class Command(ServiceCommand):
    help = (
        "Create a draft of the tournament that FILE describes, and print its preview."
        " FILE is the TOML file of `torres tournament`; its entrants are bots of this"
        " service. docs/tournaments.md explains the keys."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="a TOML file")
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="check the file and print the preview, but create nothing",
        )
        parser.add_argument(
            "--entrants",
            type=whole_number(MIN_ENTRANTS, MAX_ENTRANTS),
            help="the number of entrants that the preview supposes",
        )
        parser.add_argument(
            "--organiser", default="", help="the user name of its organiser"
        )
        parser.add_argument(
            "--open", action="store_true", help="open entry at once, too"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            document = read_document(_read(options["file"]))
            self._show(document, preview_document(document, options["entrants"]))
            if options["dry_run"]:
                self.stdout.write("Nothing was created: this was a dry run.")
                return
            operator = Operator(_organiser(options["organiser"]), "at the console")
            tournament = organising.create(operator, document)
            if options["open"]:
                organising.take(operator, tournament, Step.OPEN)
        except BadFields as refusal:
            lines = [f"  {each.field}: {each.detail}" for each in refusal.problems]
            raise CommandError("\n".join([f"{options['file']}:", *lines])) from refusal
        except LadderError as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(
            f"Created {tournament.slug} ({tournament.status}). Its organiser goes on at"
            f" /organise/{tournament.slug}/."
        )

    def _show(self, document: TournamentDocument, preview: TournamentPreview) -> None:
        self.stdout.write(f"{document.fields['name']}: {preview.format}")
        for line in preview.lines():
            self.stdout.write(f"  {line}")


def _organiser(name: str) -> User | None:
    if not name:
        return None
    user = User.objects.filter(username=storable(name)).first()
    if user is None:
        raise CommandError(f"There is no user {quoted(name)}.")
    if not is_organiser(user):
        raise CommandError(
            f"{name} is no organiser. Run: manage.py operator organiser {name} --why"
            " REASON"
        )
    return user


def _read(file: Path) -> dict[str, object]:
    """Return the document in a file; its name is by default that of the file."""
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "this is no name of a file"
        raise CommandError(f"{str(file)[:200]!r}: {reason}") from error
    if len(data) > MAX_FILE_BYTES:
        raise BadTournament([f"body: it is larger than {MAX_FILE_BYTES} bytes"])
    try:
        document = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        # The errors of TOML and of UTF-8 are ValueErrors.
        raise BadTournament([f"body: it is no TOML: {str(error)[:200]}"]) from error
    return {"name": file.stem, **document}
