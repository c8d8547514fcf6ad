"""Descriptions of tournaments that cannot be meant, for every entrance.

One table serves the form, REST, `manage.py tournament FILE`, `torres tournament FILE`,
and rows that are planted in the database behind all checks.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from ladder.bots.models import Bot
from ladder.tournaments.description import DATES
from ladder.tournaments.models import default_limits
from tests.games.factories import bot
from tests.tournaments.factories import tournament

ANYWHERE = frozenset({"rest", "file", "form", "home"})
SERVICE = ANYWHERE - {"home"}
# A form has texts only.
DOCUMENT = ANYWHERE - {"form"}
FILE_ONLY = frozenset({"rest", "file"})
HOME = frozenset({"home"})
TYPED = FILE_ONLY | HOME
TOMORROW = f"{timezone.now() + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"
IN_AN_HOUR = f"{timezone.now() + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"
PAST = "2020-01-01T00:00:00Z"
MANY = ["house:greedy"] * 1000


@dataclass(frozen=True)
class WrongInput:
    """Fields that differ from a good document, and a pattern of the refusal.

    The refusal names the field, its present value, and what would be right. `at` are
    the entrances that can carry it.
    """

    fields: dict[str, Any]
    why: str
    at: frozenset[str] = ANYWHERE

    def row(self) -> dict[str, Any] | None:
        """Return the columns of a planted row; None if no column has such a value."""
        columns: dict[str, Any] = {"config": {"format": "swiss"}}
        for key, value in self.fields.items():
            if key in ("name", "slug", "seeding", "entrants", "bots", "held_back"):
                return None
            if key in DATES:
                moment = _moment(value)
                if moment is None:
                    return None
                columns[key] = moment
            elif key == "limits":
                is_object = isinstance(value, dict)
                columns[key] = default_limits() | value if is_object else value
            elif key == "switches" or (key == "ruleset" and isinstance(value, str)):
                columns[key] = value
            elif key == "ruleset":
                return None
            else:
                columns["config"][key] = value
        return columns


def _moment(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        return None


WRONG = [
    # The format.
    WrongInput({"format": "swis"}, r"format.*'swis'; it must be one of round_robin"),
    WrongInput({"format": ["swiss"]}, r"format: \['swiss'\]; .* one of", DOCUMENT),
    WrongInput({"format": "groups", "final": "swiss"}, r"final.*swiss'?; .*must be"),
    WrongInput({"formt": "swiss"}, r"'formt'.*the keys are", DOCUMENT),
    WrongInput({"seats": 1}, r"seats.*1; it must be a whole number from 2 to 4"),
    WrongInput({"seats": 5}, r"seats.*5; it must be a whole number from 2 to 4"),
    WrongInput({"seats": "two"}, r"seats.*'two'; it must be a whole number"),
    WrongInput({"seats": "2"}, r"seats: '2'; it must be a whole number", DOCUMENT),
    WrongInput({"seats": True}, r"seats: True; it must be a whole number", DOCUMENT),
    WrongInput(
        {"format": "single_elimination", "seats": 4}, r"seats.*two seats at a table"
    ),
    WrongInput({"rounds": -1}, r"rounds.*-1; it must be a whole number from 0"),
    WrongInput({"rounds": 1.5}, r"rounds.*1\.5; it must be a whole number"),
    WrongInput({"rounds": 1001}, r"rounds.*1001; .*from 0 to 1000"),
    WrongInput({"best_of": 0}, r"best_of.*0; it must be a whole number from 1"),
    WrongInput({"best_of": 2}, r"best_of.*2; it must be an odd number"),
    WrongInput({"best_of": 101}, r"best_of.*101; it must be .* from 1 to 99"),
    WrongInput({"best_of_final": 4}, r"best_of_final.*4; it must be an odd number"),
    WrongInput({"groups": 0}, r"groups.*0; it must be a whole number from 1 to 256"),
    WrongInput({"groups": 257}, r"groups.*257; it must be .* from 1 to 256"),
    WrongInput({"advance": 65}, r"advance.*65; it must be a whole number from 1 to 64"),
    WrongInput({"duplicate": "yes"}, r"duplicate: 'yes'; it must be true", DOCUMENT),
    WrongInput({"shared_deals": 1}, r"shared_deals: 1; it must be true", DOCUMENT),
    WrongInput({"points": [0, 1]}, r"points.*highest first"),
    WrongInput({"points": [3, 2, 1]}, r"points.*a list of 2 numbers"),
    WrongInput({"points": ["x", "y"]}, r"points.*'x'.*a list of 2 numbers"),
    WrongInput({"points": "3"}, r"points: '3'; it must be a list", DOCUMENT),
    WrongInput({"tie_breaks": ["luck"]}, r"tie_breaks.*'luck'; it must be one of"),
    WrongInput({"tie_breaks": "wins"}, r"tie_breaks: 'wins'; .* a list", DOCUMENT),
    # The rules and the limits.
    WrongInput({"ruleset": "chess"}, r"ruleset.*unknown ruleset.*choose one of"),
    WrongInput({"ruleset": 7}, r"ruleset: 7; it must be a text", FILE_ONLY),
    WrongInput({"switches": {"wings": 2}}, r"switches.*unknown switch.*choose one of"),
    WrongInput({"switches": {"start_player": "nobody"}}, r"switches.*start_player"),
    WrongInput({"switches": [1]}, r"switches: \[1\]; it must be", DOCUMENT),
    WrongInput({"limits": 5}, r"limits: 5; it must be", DOCUMENT),
    WrongInput({"limits": {"wings": 1}}, r"limits: unknown key: 'wings'", DOCUMENT),
    WrongInput({"limits": {"move_ms": 0}}, r"move_ms.*0; .* whole number from 1"),
    WrongInput({"limits": {"move_ms": "fast"}}, r"move_ms.*'fast'; it must be"),
    WrongInput({"limits": {"move_ms": 10**9}}, r"move_ms.*; .* whole number from 1"),
    WrongInput({"limits": {"memory_mb": -5}}, r"memory_mb.*-5; it must be"),
    WrongInput({"limits": {"pids": 1.5}}, r"pids.*1\.5; it must be a whole number"),
    WrongInput({"limits": {"bank_ms": 10**12}}, r"bank_ms.*; it must be"),
    # The dates.
    WrongInput({"starts_at": PAST}, r"starts_at.*is in the past", SERVICE),
    WrongInput({"closes_at": PAST}, r"closes_at.*is in the past", SERVICE),
    WrongInput(
        {"starts_at": "next week"},
        r"starts_at.*'next week'; use a date",
        SERVICE,
    ),
    WrongInput({"starts_at": 7}, r"starts_at: 7; use a date", FILE_ONLY),
    WrongInput(
        {"closes_at": TOMORROW, "starts_at": IN_AN_HOUR},
        r"starts_at.*not be earlier",
        SERVICE,
    ),
    WrongInput(
        {"opens_at": TOMORROW, "closes_at": IN_AN_HOUR},
        r"closes_at.*not be earlier",
        SERVICE,
    ),
    WrongInput({"starts_at": TOMORROW}, r"starts_at.*only a service", HOME),
    # The name, and what others have chosen.
    WrongInput(
        {"name": ""},
        r"name.*it must be a text of 1 to 80 printable characters",
    ),
    WrongInput(
        {"name": "x" * 81},
        r"name.*it must be a text of 1 to 80 printable",
    ),
    WrongInput({"name": "a\u202eb"}, r"name.*it must be a text of 1 to 80 printable"),
    WrongInput({"name": 7}, r"name: 7; it must be a text", TYPED),
    WrongInput({"name": ["a"]}, r"name: \['a'\]; it must be a text", TYPED),
    WrongInput(
        {"slug": "Friday Cup"},
        r"slug.*small letters, digits",
        SERVICE,
    ),
    WrongInput({"slug": "Friday_Cup"}, r"slug.*small letters, digits", SERVICE),
    WrongInput({"slug": "new"}, r"slug.*'new' is taken; give another", SERVICE),
    WrongInput(
        {"slug": "taken"},
        r"slug.*'taken' is taken; give another one",
        SERVICE,
    ),
    WrongInput({"slug": 7}, r"slug: 7; it must have", FILE_ONLY),
    WrongInput({"held_back": 1}, r"held_back: 1; it must be true or false", FILE_ONLY),
    WrongInput(
        {"seeding": "nobody"},
        r"seeding.*'nobody'; there is no such ladder",
        SERVICE,
    ),
    WrongInput({"seeding": 7}, r"seeding: 7; there is no such ladder", FILE_ONLY),
    WrongInput({"bots": "folder"}, r"bots: 'folder'; a folder of programs", FILE_ONLY),
    # The entrants.
    WrongInput(
        {"entrants": ["nobody"]},
        r"entrants.*'nobody'.*(slug of a bot|path of a bot)",
    ),
    WrongInput(
        {"entrants": ["house:nobody"]},
        r"entrants.*there is no (bot|house bot) '(house:)?nobody'",
    ),
    WrongInput(
        {"entrants": ["ana-bot"]},
        r"entrants.*'ana-bot'.*(slug of a bot|path of a bot)",
    ),
    WrongInput(
        {"entrants": ["bot-0", "bot-0"]},
        r"entrants.*'bot-0' is named twice",
        SERVICE,
    ),
    WrongInput(
        {"entrants": ["not-ready"]},
        r"entrants: not-ready has no submission that is ready; enter it later",
        SERVICE,
    ),
    WrongInput(
        {"entrants": ["withdrawn"]},
        r"entrants: withdrawn is withdrawn; only active bots",
        SERVICE,
    ),
    WrongInput(
        {"entrants": ["banned"]},
        r"entrants: banned is banned; only active bots",
        SERVICE,
    ),
    WrongInput(
        {"format": "round_robin", "entrants": MANY},
        r"entrants.*1000 bots; this format allows at most 224",
    ),
    WrongInput(
        {"entrants": ["house:greedy"]},
        r"entrants: 1; a tournament needs at least 2",
        HOME,
    ),
    WrongInput({"entrants": []}, r"entrants: 0; a tournament", HOME),
    WrongInput(
        {"entrants": "bot-0"},
        r"entrants: 'bot-0'; it must be a list",
        TYPED,
    ),
    WrongInput({"entrants": [1]}, r"entrants: \[1\]; it must be a list", TYPED),
    WrongInput({"entrants": ["\0"]}, r"entrants: there is no bot", FILE_ONLY),
]


def at(entrance: str) -> list[WrongInput]:
    """Return the inputs that an entrance can carry."""
    return [each for each in WRONG if entrance in each.at]


def prepare() -> None:
    """Create the rows to which some of the inputs refer."""
    tournament({"format": "swiss"}, slug="taken")
    bot("bot-0")
    bot("not-ready", ready=False)
    for status in (Bot.Status.WITHDRAWN, Bot.Status.BANNED):
        Bot.objects.filter(pk=bot(str(status)).pk).update(status=status)
    # The account of its owner was deleted.
    Bot.objects.filter(pk=bot("ana-bot").pk).update(
        slug="deleted-17", name="deleted-17", status=Bot.Status.WITHDRAWN
    )
