"""The routes of the REST API for tournaments, below /api/v1/."""

from django.urls import path

from ladder.common.http import routes
from ladder.tournaments import organiser_views as organisers, views
from ladder.tournaments.organising import Step

_TOURNAMENT = "tournaments/<slug:slug>/"

urlpatterns = routes(
    [
        ("tournaments/", views.TournamentList, "tournaments"),
        ("tournaments/preview/", organisers.DocumentPreview, "preview-document"),
        (_TOURNAMENT, views.TournamentDetail, "tournament"),
        (f"{_TOURNAMENT}entrants/", views.EntrantList, "entrants"),
        (f"{_TOURNAMENT}entrants/<slug:bot>/", views.EntrantDetail, "entrant"),
        (
            f"{_TOURNAMENT}entrants/<slug:bot>/check-in/",
            views.EntrantCheckIn,
            "check-in",
        ),
        (
            f"{_TOURNAMENT}entrants/<slug:bot>/replace/",
            organisers.EntrantReplace,
            "replace-entrant",
        ),
        (f"{_TOURNAMENT}seeds/", organisers.TournamentSeeds, "set-seeds"),
        (
            f"{_TOURNAMENT}preview/",
            organisers.TournamentPreviewView,
            "preview-tournament",
        ),
        *(
            path(
                f"{_TOURNAMENT}{step}/",
                organisers.TournamentStep.as_view(step=step),
                name=f"step-{step}",
            )
            for step in Step
            if step != Step.CANCEL
        ),
        (f"{_TOURNAMENT}{Step.CANCEL}/", organisers.TournamentCancel, "step-cancel"),
        (f"{_TOURNAMENT}rounds/", views.TournamentRounds, "rounds"),
        (f"{_TOURNAMENT}bracket/", views.TournamentBracket, "bracket"),
        (f"{_TOURNAMENT}standings/", views.TournamentStandings, "standings"),
        (
            f"{_TOURNAMENT}standings/<slug:first>/<slug:second>/",
            views.EntrantComparison,
            "comparison",
        ),
        (f"{_TOURNAMENT}games/", views.TournamentGames, "tournament-games"),
    ]
)
