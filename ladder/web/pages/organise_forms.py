"""The form of a tournament: its fields become the document that every entrance reads.

The form checks nothing itself. It hands each value over as it was written, so that
`ladder.tournaments.document` checks it, and shows each error at its field.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext, gettext_lazy as _, gettext_noop
from django_stubs_ext import StrPromise

from engine.editions import DEFAULT, PRESETS
from ladder.common.stored_texts import translated
from ladder.ratings.models import Ladder
from ladder.tournaments.description import DATES
from ladder.tournaments.document import FORMAT_KEYS
from ladder.tournaments.models import Tournament
from ladder.web.pages.pages import LIMITS
from torres.common.errors import BadFields
from torres.common.json_object import JsonObject
from torres.formats.config import ELIMINATIONS, Config, Format
from torres.runner.limits import MAX_LIMITS

Text = str | StrPromise
"""A text, or one that is translated when a page shows it."""
MAX_TEXT = 200
MAX_LIST_CHARS = 40_000
NUMBERS = (
    *("seats", "rounds", "best_of", "best_of_final", "groups", "advance"),
    "entries_per_owner",
    *MAX_LIMITS,
)
LISTS = ("points", "tie_breaks", "entrants")
FORMAT_NAMES = {
    Format.ROUND_ROBIN: _("Round robin: everybody meets everybody"),
    Format.SWISS: _("Swiss: rounds of entrants with similar points"),
    Format.SINGLE_ELIMINATION: _("Single elimination: one loss and out"),
    Format.DOUBLE_ELIMINATION: _("Double elimination: two losses and out"),
    Format.GROUPS: _("Groups: round robins, then a final"),
}


class TournamentTemplate(NamedTuple):
    """A common kind of tournament, and the values of its fields."""

    title: Text
    values: JsonObject


TEMPLATES: Mapping[str, TournamentTemplate] = {
    "cup": TournamentTemplate(
        _("Cup for an evening: single elimination, best of three, check-in before"),
        {
            "name": gettext_noop("Friday cup"),
            "format": str(Format.SINGLE_ELIMINATION),
            "best_of": "3",
            "must_check_in": True,
        },
    ),
    "swiss": TournamentTemplate(
        _("Swiss for many bots: five rounds, two bots of each owner"),
        {
            "name": gettext_noop("Open Swiss"),
            "format": str(Format.SWISS),
            "rounds": "5",
            "entries_per_owner": "2",
        },
    ),
    "league": TournamentTemplate(
        _("League: everybody meets everybody twice"),
        {
            "name": gettext_noop("League"),
            "format": str(Format.ROUND_ROBIN),
            "rounds": "2",
        },
    ),
    "groups": TournamentTemplate(
        _("Four groups, and a final of the best two of each"),
        {
            "name": gettext_noop("Championship"),
            "format": str(Format.GROUPS),
            "groups": "4",
        },
    ),
}


class FormPart(NamedTuple):
    """A group of fields, and whether it is open at first."""

    title: Text
    fields: list[forms.BoundField]
    is_open: bool


def _text(label: Text, note: Text = "", **attrs: str) -> forms.CharField:
    return forms.CharField(
        required=False,
        strip=True,
        max_length=MAX_TEXT,
        label=label,
        help_text=note,
        widget=forms.TextInput(attrs={"autocomplete": "off", **attrs}),
    )


def _number(label: Text, note: Text = "") -> forms.CharField:
    return _text(label, note, inputmode="numeric")


def _choice(label: Text, choices: Sequence[tuple[str, Text]]) -> forms.CharField:
    return forms.CharField(
        required=False,
        max_length=MAX_TEXT,
        label=label,
        widget=forms.Select(choices=choices),
    )


def _area(label: Text, note: Text, rows: int) -> forms.CharField:
    return forms.CharField(
        required=False,
        max_length=MAX_LIST_CHARS,
        label=label,
        help_text=note,
        widget=forms.Textarea(attrs={"rows": rows, "spellcheck": "false"}),
    )


def _moment(label: Text) -> forms.CharField:
    return forms.CharField(
        required=False,
        max_length=MAX_TEXT,
        label=label,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
    )


def _yes(label: Text, note: Text = "") -> forms.BooleanField:
    return forms.BooleanField(required=False, label=label, help_text=note)


class TournamentForm(forms.Form):
    """Every key of the document. An empty field leaves its key out."""

    name = _text(_("Name"))
    slug = _text(_("Part of its address"), _("By default it follows from the name."))
    format = _choice(_("Format"), [(str(k), v) for k, v in FORMAT_NAMES.items()])
    seats = _number(
        _("Seats at a table"), _("2 to 4; eliminations have 2. Default: 2.")
    )
    duplicate = _yes(
        _("Each match has a game for each rotation of the seats"),
        _(
            "It cancels the advantage of a seat: of two strong bots the second one to"
            " move wins 62 percent of the games. Measured, it saves 0 to 10 percent of"
            " the games."
        ),
    )
    shared_deals = _yes(
        _("All matches of a round have the same decks"),
        _(
            "Bots can be compared on equal cards. Measured, it saves hardly any games."
            " The games of a round are shown when the last one has ended."
        ),
    )
    rounds = _number(
        _("Rounds"),
        _(
            "Of a Swiss: by default as many as a single winner needs. Of a round robin"
            " with two seats: how many times each pair meets, by default once."
        ),
    )
    best_of = _number(_("Best of"), _("Matches of a contest of an elimination; odd."))
    best_of_final = _number(_("Best of, in the final"), _("By default the same."))
    reset = _yes(
        _("Double elimination: the winner of the losers’ bracket must win twice")
    )
    groups = _number(_("Groups"), _("Default: 2."))
    advance = _number(_("Entrants of each group in the final"), _("Default: 2."))
    final = _choice(
        _("The final after groups"),
        [
            ("", _("by default single elimination")),
            *((str(k), FORMAT_NAMES[k]) for k in ELIMINATIONS),
        ],
    )
    points = _text(
        _("Points by rank at a table"),
        _(
            "Best first, for example 5, 3, 1, 0. By default the share of opponents"
            " beaten."
        ),
    )
    tie_breaks = _text(
        _("Tie-breaks"), _("Names in their order, for example direct_encounter, score.")
    )
    ruleset = _choice(
        _("Rules"), [(key, _(preset.name)) for key, preset in PRESETS.items()]
    )
    switches = _area(
        _("Changes of the rules"),
        _('One switch in each line, for example start_player = "seat0".'),
        2,
    )
    seeding = _choice(_("Seeds follow the ratings of"), [])
    must_check_in = _yes(_("Entrants must check in"))
    entries_per_owner = _number(
        _("Bots that one owner may enter"), _("Empty for no limit. You may enter more.")
    )
    held_back = _yes(_("Results are held back until they are revealed"))
    opens_at = _moment(_("Entry opens at (UTC)"))
    closes_at = _moment(_("Entry closes at (UTC)"))
    starts_at = _moment(_("Start (UTC)"))
    entrants = _area(
        _("First entrants"),
        _(
            "Slugs of bots, one in each line, the best seed first. More can enter"
            " later."
        ),
        3,
    )

    PARTS = (
        (_("The tournament"), ("name", "format", "ruleset", "starts_at", "entrants")),
        (
            _("More about the format"),
            (
                *("seats", "duplicate", "shared_deals", "rounds"),
                *("points", "tie_breaks"),
                *("best_of", "best_of_final", "reset", "groups", "advance", "final"),
            ),
        ),
        (
            _("More about times and entry"),
            (
                *("slug", "opens_at", "closes_at", "seeding"),
                *("must_check_in", "entries_per_owner", "held_back"),
            ),
        ),
        (_("Changes of the rules"), ("switches",)),
        (_("The limits of a bot"), tuple(LIMITS)),
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        stored: Tournament | None = None,
        template: str = "",
    ) -> None:
        """Make the form of a new tournament or of a stored one.

        A template of `TEMPLATES` fills in values of a form that has no data.
        """
        self._defaults = initial_values(Tournament())
        shown = self._defaults if stored is None else initial_values(stored)
        if data is None and template in TEMPLATES:
            values = TEMPLATES[template].values
            shown = shown | values | {"name": gettext(values["name"])}
        super().__init__(data, initial=shown)
        for name, (label, unit) in LIMITS.items():
            text = gettext(label)
            self.fields[name] = _number(f"{text} ({gettext(unit)})" if unit else text)
        self.stored = stored
        if stored is not None:
            del self.fields["entrants"], self.fields["slug"]
        ladders = Ladder.objects.order_by("pk").values_list("slug", "name")[:50]
        widget = self.fields["seeding"].widget
        if isinstance(widget, forms.Select):
            widget.choices = [("", _("no ladder: the order of entry")), *ladders]

    def parts(self) -> list[FormPart]:
        """Return the fields in groups, for the template of the page.

        The first group is what every tournament needs. Another one is open if it has a
        mistake, or a value that is not the default.
        """
        groups = [
            (title, [self[name] for name in names if name in self.fields])
            for title, names in self.PARTS
        ]
        return [
            FormPart(title, fields, any(map(self._is_noteworthy, fields)))
            for title, fields in groups
        ]

    def _is_noteworthy(self, field: forms.BoundField) -> bool:
        usual = self._defaults.get(field.name, "")
        return bool(field.errors) or (field.value() or "") != (usual or "")

    def document(self) -> JsonObject:
        """Return the document: the fields that differ from what is stored."""
        document: JsonObject = {}
        limits: JsonObject = {}
        for name in self.changed_data:
            value = self._value(name)
            if name in MAX_LIMITS:
                limits[name] = value
            elif value != "" or name == "name":
                document[name] = value
            elif self.stored is not None or name == "entries_per_owner":
                document[name] = {} if name == "switches" else None
        if limits:
            document["limits"] = limits
        document.setdefault("format", self.cleaned_data.get("format") or "swiss")
        if self.stored is not None and "format" not in self.changed_data:
            del document["format"]
        elif self.stored is None:
            document.setdefault("name", "")
        return document

    def _value(self, name: str) -> Any:
        """Return what a field means; a text that means nothing stays a text."""
        value = self.cleaned_data.get(name, "")
        if name in NUMBERS:
            return as_number(value)
        if name in LISTS and value:
            words = [word.strip() for word in value.replace("\n", ",").split(",")]
            words = [word for word in words if word]
            return [as_number(word) for word in words] if name == "points" else words
        if name == "switches" and value:
            return _switches(value)
        return value

    def show(self, refusal: BadFields) -> None:
        """Show each mistake at its field."""
        for problem in refusal.problems:
            field, detail = problem.field, problem.detail
            if field == "limits" and detail.partition(":")[0] in self.fields:
                field = detail.partition(":")[0]
            if field in self.fields:
                self.add_error(field, translated(detail))
            else:
                self.add_error(None, f"{field}: {translated(detail)}")


def as_number(text: str) -> Any:
    """Return the number in a text, or the text if it is none."""
    try:
        # The slice keeps int() from reading thousands of digits.
        return int(text) if len(text) <= MAX_TEXT else text
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _switches(text: str) -> Any:
    """Return switches that were written as lines of TOML; other text stays as it is."""
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError):
        return text


def initial_values(tournament: Tournament) -> dict[str, object]:
    """Return the values of the fields for a stored tournament, or for a new one."""
    config: Mapping[str, Any] = (
        tournament.config if isinstance(tournament.config, dict) else {}
    )
    values: JsonObject = {
        key: _as_text(config[key]) for key in FORMAT_KEYS if key in config
    }
    for name in ("duplicate", "shared_deals", "reset"):
        values[name] = config.get(name, Config.__dataclass_fields__[name].default)
    limits = tournament.limits if isinstance(tournament.limits, dict) else {}
    values |= {name: str(limits.get(name, "")) for name in MAX_LIMITS}
    for name in DATES:
        moment: datetime | None = getattr(tournament, name)
        values[name] = f"{moment:%Y-%m-%dT%H:%M}" if moment else ""
    seeding = tournament.seeding
    return values | {
        "name": tournament.name,
        "ruleset": tournament.ruleset or DEFAULT,
        "switches": _switch_lines(tournament.switches),
        "seeding": seeding.slug if seeding else "",
        "must_check_in": tournament.must_check_in,
        "entries_per_owner": _as_text(tournament.entries_per_owner or ""),
        "held_back": tournament.held_back,
    }


def _as_text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(each) for each in value)
    return str(value)


def _switch_lines(switches: object) -> str:
    if not isinstance(switches, Mapping):
        return ""
    lines = (f"{name} = {json.dumps(value)}" for name, value in switches.items())
    return "\n".join(lines)
