"""Torres TV: the best running game, what is next, and the best game of the day."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.views import View

from ladder.games import visibility as games
from ladder.games.models import Game, Seat
from ladder.web.middleware.hidden_results import are_hidden
from ladder.web.pages import featured, pages, watching
from ladder.web.pages.tournament_steps import next_tournaments
from ladder.web.templatetags.formatting import share_of
from torres.common.errors import LadderError
from torres.common.json_object import JsonObject
from torres.drawing.board_svg import board_markup

NEXT_GAMES = 4
NEXT_ON_STAGE = 2
NEXT_TOURNAMENTS = 3


@dataclass(frozen=True, slots=True)
class TvPlayer:
    """A player beside the board. `share` is the width of the bar, in percent."""

    seat: Seat
    score: int
    share: str
    is_to_move: bool


@dataclass(frozen=True, slots=True)
class TvGame:
    """The game on TV in its present position, the best player first."""

    game: Game
    board: SafeString
    players: list[TvPlayer]
    moment: str


class TvPage(View):
    """`?stage=1` leaves out all around the game, for a beamer or a stream.

    For readers who hide results it lists the running games, which they see from their
    beginnings.
    """

    def get(self, request: HttpRequest) -> HttpResponse:
        if are_hidden(request):
            return render(request, "web/tv.html", _without_results())
        shown = _shown(featured.featured_game())
        number = shown.game.pk if shown else None
        best = featured.game_of_the_day()
        is_stage = request.GET.get("stage") == "1"
        context = {
            "layout": "web/stage.html" if is_stage else "web/base.html",
            "is_stage": is_stage,
            "tv": shown,
            "next_games": featured.next_games(
                number, NEXT_ON_STAGE if is_stage else NEXT_GAMES
            ),
            "best": None
            if best in (None, number)
            else games.games().filter(pk=best).first(),
            "tournaments": next_tournaments(NEXT_TOURNAMENTS),
        }
        return render(request, "web/tv.html", context)


def _without_results() -> dict[str, object]:
    return {
        "layout": "web/base.html",
        "next_games": featured.next_games(None, NEXT_GAMES, best_first=False),
        "tournaments": next_tournaments(NEXT_TOURNAMENTS),
    }


def _shown(number: int | None) -> TvGame | None:
    origins = [f"match__{origin}" for origin in pages.ORIGINS]
    game = games.games().select_related(*origins).filter(pk=number or 0).first()
    if game is None:
        return None
    try:
        frame = watching.present_frame(game)
    except LadderError:  # it was hidden or began anew a moment ago
        return None
    return TvGame(
        game=game,
        # The markup has numbers and fixed names only.
        board=mark_safe(board_markup(frame)),  # noqa: S308
        players=_players(game, frame),
        moment=_moment(game, frame),
    )


def _players(game: Game, frame: JsonObject) -> list[TvPlayer]:
    scores = frame["scores"]
    rows = [
        TvPlayer(
            seat=seat,
            score=scores[seat.number],
            share=share_of(scores[seat.number], max(1, *scores)),
            is_to_move=frame["seat"] == seat.number,
        )
        for seat in game.seats.all()
    ]
    return sorted(rows, key=lambda row: (row.seat.rank or 0, -row.score))


def _moment(game: Game, frame: JsonObject) -> str:
    """Say who won or who is to move, as `tv.js` does."""
    seats = list(game.seats.all())
    if frame["over"]:
        winners = [seat.submission.bot.name for seat in seats if seat.rank == 1]
        names = f" {_('and')} ".join(winners)
        text = (
            _("%(name)s wins.")
            if len(winners) == 1
            else _("%(name)s share the first rank.")
        )
        return text % {"name": names} if winners else _("The game is over.")
    phase = frame["phase"]
    when = _("Set-up.")
    if phase:
        when = _("Phase %(phase)s, round %(round)s.") % {
            "phase": phase,
            "round": frame["round"],
        }
    if frame["seat"] is None:
        return when
    name = seats[frame["seat"]].submission.bot.name
    return f"{when} " + _("%(name)s is to move.") % {"name": name}
