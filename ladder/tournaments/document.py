"""The document that describes a tournament, as people write it.

It is the same in the file of `torres tournament`, in the file of `manage.py
tournament`, in the REST API and behind the forms of the pages: the keys of the format
and of the match at the top, and the tables `switches` and `limits`. `read_document`
finds everything that is wrong before anything is stored.
"""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils import timezone
from django.utils.text import slugify

from ladder.bots.models import Bot, Submission
from ladder.bots.services import HOUSE_PREFIX
from ladder.ratings.models import Ladder
from ladder.tournaments.description import (
    DATES,
    BadTournament,
    TournamentDescription,
    past_dates,
    problems,
)
from ladder.tournaments.models import RESERVED_SLUGS, Tournament, default_limits
from torres.common.documents import MAX_SLUG_LENGTH, DocumentReader
from torres.common.quoting import quoted
from torres.formats.config import BadConfig, Config, max_entrants, read_config

MAX_SAME_NAME = 100
FORMAT_KEYS = tuple(Config.__dataclass_fields__)
MATCH_KEYS = ("ruleset", "switches", "limits")
OWN_KEYS = (
    *("name", "slug", "seeding", "must_check_in", "entries_per_owner", "held_back"),
    *DATES,
)
MAX_ENTRIES = 1000
LOCAL_KEYS = ("bots", "seed")
"""Keys that only `torres tournament` uses."""
KEYS = (*OWN_KEYS, "entrants", *FORMAT_KEYS, *MATCH_KEYS)
SEED_NOTE = (
    "seed: the service draws the decks by itself, so that nobody knows them before. It"
    " does not use this key."
)


@dataclass(frozen=True, slots=True)
class TournamentDocument:
    """A document without mistakes.

    ``fields`` are the values of the columns that it describes. ``entrants`` are the
    bots that it enters, the best seed first. ``notes`` say what was left out.
    """

    fields: dict[str, Any]
    entrants: tuple[Bot, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def config(self) -> Config:
        return read_config(self.fields["config"])


def read_document(
    document: object, stored: Tournament | None = None
) -> TournamentDocument:
    """Return what a document describes. Raises BadTournament with all its mistakes.

    With ``stored`` the document changes this tournament: it holds only what is to be
    different. A key of the format that is null has its default again, a limit that is
    left out stays, and ``switches`` replaces all switches.
    """
    if not isinstance(document, Mapping):
        raise BadTournament(
            [
                (
                    f"body: {quoted(document)}; it must be an object with the keys of a"
                    ' tournament, for example {"name": "Cup", "format": "swiss"}'
                )
            ]
        )
    reader = _TournamentReader(document, stored)
    reader.read()
    if reader.mistakes:
        raise BadTournament(list(dict.fromkeys(reader.mistakes)))
    return TournamentDocument(
        reader.fields, tuple(reader.entrants), tuple(reader.notes)
    )


class _TournamentReader(DocumentReader):
    """Reads one document; collects the fields, the entrants and all mistakes."""

    def __init__(self, document: Mapping[str, Any], stored: Tournament | None) -> None:
        super().__init__(document, is_new=stored is None)
        self.stored = stored
        self.entrants: list[Bot] = []
        self.notes: list[str] = []

    def read(self) -> None:
        self._refuse_keys()
        self.read_name()
        self._read_slug()
        self._read_seeding()
        for key in ("must_check_in", "held_back"):
            self.read_boolean(key)
        self._read_entries()
        for key in DATES:
            self.read_moment(key)
        self.read_terms(self.stored.limits if self.stored else default_limits())
        self._read_config()
        self._check_description()
        self._read_entrants()

    def _refuse_keys(self) -> None:
        if self.given("bots"):
            self.refuse(
                "bots",
                "a folder of programs is for torres tournament only. Name bots of this"
                " service in entrants",
            )
        if self.given("seed"):
            self.notes.append(SEED_NOTE)
        self.document = {
            key: value for key, value in self.document.items() if key not in LOCAL_KEYS
        }
        self.refuse_unknown(KEYS, "tournament")

    def _read_slug(self) -> None:
        if self.stored is not None:
            self.keep_slug(self.stored.slug)
            return
        slug = self.document.get("slug")
        if slug is None:
            self.fields["slug"] = _free_slug(self.fields.get("name", ""))
            return
        rows = Tournament.objects.filter(slug=str(slug).replace("\0", ""))
        is_taken = slug in tuple(RESERVED_SLUGS) or rows.exists()
        self.read_new_slug(slug, taken=is_taken)

    def _read_seeding(self) -> None:
        if not self.given("seeding"):
            return
        slug = self.document["seeding"]
        if slug is None or slug == "":
            self.fields["seeding"] = None
            return
        known = {ladder.slug: ladder for ladder in Ladder.objects.order_by("pk")[:50]}
        if isinstance(slug, str) and slug in known:
            self.fields["seeding"] = known[slug]
        else:
            self.refuse(
                "seeding", f"there is no such ladder; there are {', '.join(known)}"
            )

    def _read_entries(self) -> None:
        if not self.given("entries_per_owner"):
            return
        most = self.document["entries_per_owner"]
        # Not isinstance: True is an int in Python, but not in TOML or JSON.
        if most is None or (type(most) is int and 1 <= most <= MAX_ENTRIES):
            self.fields["entries_per_owner"] = most
        else:
            self.refuse(
                "entries_per_owner",
                f"it must be a whole number from 1 to {MAX_ENTRIES}, or null for no"
                " limit",
            )

    def _read_config(self) -> None:
        given = {key: self.document[key] for key in FORMAT_KEYS if self.given(key)}
        if self.stored is None:
            self.fields["config"] = {"format": "swiss", **given}
        elif given:
            stored = self.stored.config if isinstance(self.stored.config, dict) else {}
            changed = {**stored, **given}
            self.fields["config"] = {
                key: value for key, value in changed.items() if value is not None
            }

    def _check_description(self) -> None:
        """Check what the fields mean together, with the stored ones for the others."""
        blank = self.stored or Tournament()
        before = blank.description()
        description = replace(before, **self.fields_of(TournamentDescription))
        found = problems(description) + past_dates(
            description, timezone.now(), before if self.stored else None
        )
        self.mistakes += [text.removeprefix("config: ") for text in found]

    def _read_entrants(self) -> None:
        if not self.given("entrants"):
            return
        names = self.document["entrants"]
        if self.stored is not None:
            self.refuse(
                "entrants", "they change one by one, at the address of the entrants"
            )
        elif not isinstance(names, list | tuple) or not all(
            isinstance(name, str) for name in names
        ):
            self.refuse("entrants", "it must be a list of names of bots")
        else:
            self._find_entrants(names)

    def _find_entrants(self, names: Sequence[str]) -> None:
        try:
            most = max_entrants(read_config(self.fields["config"]))
        except BadConfig:
            return  # `_check_description` has said what is wrong
        if len(names) > most:
            self.mistakes.append(
                f"entrants: {len(names)} bots; this format allows at most {most}"
            )
            return
        slugs = [bot_slug(name) for name in names]
        bots = {bot.slug: bot for bot in Bot.objects.filter(slug__in=set(slugs))}
        ready = set(
            Submission.objects.filter(
                bot__in=bots.values(), status=Submission.Status.READY
            ).values_list("bot__slug", flat=True)
        )
        for number, slug in enumerate(slugs):
            bot = bots.get(slug)
            if bot is not None and slug in slugs[:number]:
                why = f"{quoted(slug)} is named twice; a bot enters a tournament once"
            else:
                why = _why_not(names[number], bot, ready)
            if why:
                self.mistakes.append(f"entrants: {why}")
            elif bot is not None:
                self.entrants.append(bot)


def _why_not(name: str, bot: Bot | None, ready: Collection[str]) -> str:
    """Return why a bot cannot enter; empty if it can."""
    if bot is None:
        return (
            f"there is no bot {quoted(name)} on this service; give the slug of a bot,"
            " or house:NAME"
        )
    if bot.status != Bot.Status.ACTIVE:
        return f"{bot.slug} is {bot.status}; only active bots enter"
    if bot.slug not in ready:
        return f"{bot.slug} has no submission that is ready; enter it later"
    return ""


def _free_slug(name: str) -> str:
    """Return a slug that follows from a name, with a number if it is taken."""
    base = slugify(name.replace("_", "-"))[: MAX_SLUG_LENGTH - 4].strip("-")
    base = base or "tournament"
    candidates = [base, *(f"{base}-{number}" for number in range(2, MAX_SAME_NAME))]
    taken = RESERVED_SLUGS | set(
        Tournament.objects.filter(slug__in=candidates).values_list("slug", flat=True)
    )
    free = (candidate for candidate in candidates if candidate not in taken)
    return next(free, f"{base}-{secrets.token_hex(2)}"[-MAX_SLUG_LENGTH:])


def bot_slug(name: str) -> str:
    """Return the slug of a bot that a document names: `house:NAME` or the slug."""
    slug = name.strip().replace("\0", "")
    if slug.startswith("house:"):
        slug = HOUSE_PREFIX + slug.removeprefix("house:")
    return slug.encode("utf-8", "replace").decode()
