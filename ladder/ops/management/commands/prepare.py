"""`manage.py prepare`: prepare the database for this version. Safe to repeat."""

from typing import Any

from django.conf import settings
from django.core.management import call_command

from ladder.bots import house_bots
from ladder.common.commands import ServiceCommand
from ladder.ratings.ladders import ensure_default_ladder


class Command(ServiceCommand):
    help = (
        "Migrate the database, install the house bots, open the default ladder and,"
        " if TORRES_STATIC is set, collect the static files."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        # The first step: a web server looks for the files when it starts, perhaps as
        # soon as the database is migrated.
        if settings.STATIC_ROOT:
            call_command("collectstatic", interactive=False, verbosity=0)
        call_command("migrate", verbosity=options["verbosity"])
        house_bots.ensure_house_bots()
        ladder = ensure_default_ladder()
        self.stdout.write(f"Ready: the ladder {ladder.slug!r} is open.")
