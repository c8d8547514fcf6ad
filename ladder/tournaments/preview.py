"""A preview of a tournament: how long it will be, before it is opened or stored."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Sum
from django.utils.translation import gettext as _, ngettext

from ladder.common.stored_texts import translated
from ladder.games import selectors as games
from ladder.tournaments.document import TournamentDocument
from ladder.tournaments.models import Tournament
from ladder.tournaments.services import MIN_ENTRANTS
from torres.formats.config import BadConfig, Config, max_entrants, read_config
from torres.formats.forecast import forecast

SUPPOSED_ENTRANTS = 8
SUPPOSED_GAME_S = 30.0


@dataclass(frozen=True, slots=True)
class TournamentPreview:
    """The size of a tournament. ``least`` and ``most`` differ in eliminations.

    - ``game_s`` is the mean duration of a game in seconds, and ``slots`` the number of
      games that the workers play at once; both are guesses without workers and games.
    - ``notes`` lists assumptions, and settings of the document that have no effect.
    """

    format: str
    entrants: int
    max_entrants: int
    least_rounds: int
    most_rounds: int
    least_matches: int
    most_matches: int
    least_games: int
    most_games: int
    game_s: float
    slots: int
    least_s: float
    most_s: float
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return the preview in words, for the console and the pages."""
        size = (
            ngettext("%(count)s round", "%(count)s rounds", self.most_rounds)
            % {"count": _span(self.least_rounds, self.most_rounds)},
            ngettext("%(count)s match", "%(count)s matches", self.most_matches)
            % {"count": _span(self.least_matches, self.most_matches)},
            ngettext("%(count)s game", "%(count)s games", self.most_games)
            % {"count": _span(self.least_games, self.most_games)},
        )
        entrants = {"entrants": self.entrants, "most": self.max_entrants}
        time = {
            "duration": _span(_in_words(self.least_s), _in_words(self.most_s)),
            "slots": self.slots or 1,
            "seconds": f"{self.game_s:g}",
        }
        return [
            _("%(entrants)s entrants, at most %(most)s") % entrants,
            ", ".join(size),
            _(
                "about %(duration)s, with %(slots)s games at a time of %(seconds)s s"
                " each"
            )
            % time,
            *map(translated, self.notes),
        ]


def _span(least: object, most: object) -> str:
    """Return a value, or the least and the largest one."""
    if least == most:
        return str(least)
    return _("%(least)s to %(most)s") % {"least": least, "most": most}


def _in_words(seconds: float) -> str:
    if seconds < 120:
        return f"{max(1, round(seconds))} s"
    if seconds < 7200:
        return f"{round(seconds / 60)} min"
    return f"{round(seconds / 3600)} h"


def preview_document(
    document: TournamentDocument, entrants: int | None = None
) -> TournamentPreview:
    """Return the preview of a tournament that is not stored."""
    count = len(document.entrants) or None
    return _preview(document.config, entrants or count, document.notes)


def preview_tournament(
    tournament: Tournament, entrants: int | None = None
) -> TournamentPreview:
    """Return the preview of a tournament; by default with those that have entered.

    Raises BadConfig.
    """
    entered = tournament.entrants.filter(withdrawn_at=None).count()
    return _preview(read_config(tournament.config), entrants or entered or None, ())


def preview_or_none(tournament: Tournament) -> TournamentPreview | None:
    """Return the preview for a page; None if the stored row is wrong."""
    try:
        return preview_tournament(tournament)
    except BadConfig:
        return None


def _preview(
    config: Config, entrants: int | None, notes: Sequence[str]
) -> TournamentPreview:
    found = list(notes)
    most = max_entrants(config)
    if entrants is None:
        entrants = SUPPOSED_ENTRANTS
        found.append(f"No bot has entered yet, so {entrants} entrants are supposed.")
    count = min(max(entrants, MIN_ENTRANTS), most)
    if count != entrants:
        found.append(
            f"{entrants} entrants cannot play this format, so {count} are supposed."
        )
    size = forecast(config, count)
    slots = games.live_players().aggregate(slots=Sum("slots"))["slots"] or 0
    if not slots:
        found.append("No worker runs now, so one game at a time is supposed.")
    usual = games.usual_game(min(config.seats, count))
    game_s = SUPPOSED_GAME_S if usual is None else usual.slot_s
    if usual is None:
        found.append(f"No game was played yet, so {game_s:g} s a game are supposed.")
    least_turns, most_turns = size.turns(slots or 1)
    return TournamentPreview(
        format=config.format,
        entrants=count,
        max_entrants=most,
        least_rounds=size.least_rounds,
        most_rounds=size.most_rounds,
        least_matches=size.least_matches,
        most_matches=size.most_matches,
        least_games=size.least_games,
        most_games=size.most_games,
        game_s=round(game_s, 2),
        slots=slots,
        least_s=round(least_turns * game_s, 1),
        most_s=round(most_turns * game_s, 1),
        notes=tuple(found),
    )
