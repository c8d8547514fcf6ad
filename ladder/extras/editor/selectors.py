"""Queries about trials, and what a person may choose in the editor. Reads only."""

from collections.abc import Mapping
from types import MappingProxyType

from django.conf import settings
from django.db.models import QuerySet

from ladder.bots.house_bots import COSTLY
from ladder.bots.models import PRIVATE, Bot, Submission
from ladder.bots.services import HOUSE_PREFIX
from ladder.extras.editor.models import TrialGame, TrialStatus
from ladder.extras.practice import guests, selectors as practice
from ladder.extras.practice.selectors import Guest, Player
from ladder.games.installed_languages import installed_languages

LANGUAGES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"python": ("Python", "bot.py"), "javascript": ("JavaScript", "bot.js")}
)
"""The languages of the editor, each with its title and the name of its file."""
FAVOURITE = f"{HOUSE_PREFIX}random"
"""The opponent of a first run, which a first bot may beat."""
_COSTLY = frozenset(f"{HOUSE_PREFIX}{name}" for name in COSTLY)


def trials_of(player: Player) -> QuerySet[TrialGame]:
    """Return the trials of a person, newest first, without their replays."""
    rows = TrialGame.objects.filter(practice.belongs_to(player))
    return rows.select_related("opponent").defer("replay").order_by("-pk")


def waiting_count() -> int:
    return TrialGame.objects.filter(status=TrialStatus.WAITING).count()


def house_bots() -> list[Submission]:
    """Return the versions of the house bots that play trials, by name."""
    house = practice.opponents(Guest("")).house
    return [one for one in house if one.bot.slug not in _COSTLY]


def version_of(opponent: Bot) -> Submission:
    """Return the version that plays, without what the hosts may not read."""
    ready = opponent.submissions.filter(status=Submission.Status.READY)
    return ready.select_related("bot").defer(*PRIVATE).latest("number")


def offered_languages() -> dict[str, str]:
    """Return the titles of the languages that this service runs, and always Python."""
    able = {one.name for one in installed_languages() if one.workers} | {"python"}
    return {name: title for name, (title, _) in LANGUAGES.items() if name in able}


def refusal(player: Player | None) -> str:
    """Return why this person may run no code here; "" if they may.

    Code of people without an account runs at level full of the sandbox, or above.
    """
    if not (settings.TORRES_TRIALS_PER_HOUR and practice.is_switched_on()):
        return "This service runs no code from the editor. At home, use: torres check"
    has_account = player is not None and not isinstance(player, Guest)
    is_safe = settings.TORRES_SANDBOX in {"full", "isolated"}
    guests_run = guests.are_welcome() and is_safe
    if has_account or guests_run:
        return ""
    return "This service runs code of people with an account only. Sign in to run it."
