"""The routes of the REST API for tournaments, below /api/v1/."""

from django.urls import path

from ladder.tournaments import organiser_views as organisers, views
from ladder.tournaments.organising import Step

_TOURNAMENT = "tournaments/<slug:slug>/"

urlpatterns = [
    path("tournaments/", views.TournamentList.as_view(), name="tournaments"),
    path(
        "tournaments/preview/",
        organisers.DocumentPreview.as_view(),
        name="preview-document",
    ),
    path(_TOURNAMENT, views.TournamentDetail.as_view(), name="tournament"),
    path(f"{_TOURNAMENT}entrants/", views.EntrantList.as_view(), name="entrants"),
    path(
        f"{_TOURNAMENT}entrants/<slug:bot>/",
        views.EntrantDetail.as_view(),
        name="entrant",
    ),
    path(
        f"{_TOURNAMENT}entrants/<slug:bot>/check-in/",
        views.EntrantCheckIn.as_view(),
        name="check-in",
    ),
    path(
        f"{_TOURNAMENT}entrants/<slug:bot>/replace/",
        organisers.EntrantReplace.as_view(),
        name="replace-entrant",
    ),
    path(
        f"{_TOURNAMENT}seeds/", organisers.TournamentSeeds.as_view(), name="set-seeds"
    ),
    path(
        f"{_TOURNAMENT}preview/",
        organisers.TournamentPreviewView.as_view(),
        name="preview-tournament",
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
    path(
        f"{_TOURNAMENT}{Step.CANCEL}/",
        organisers.TournamentCancel.as_view(),
        name="step-cancel",
    ),
    path(f"{_TOURNAMENT}rounds/", views.TournamentRounds.as_view(), name="rounds"),
    path(f"{_TOURNAMENT}bracket/", views.TournamentBracket.as_view(), name="bracket"),
    path(
        f"{_TOURNAMENT}standings/",
        views.TournamentStandings.as_view(),
        name="standings",
    ),
    path(
        f"{_TOURNAMENT}standings/<slug:first>/<slug:second>/",
        views.EntrantComparison.as_view(),
        name="comparison",
    ),
    path(
        f"{_TOURNAMENT}games/", views.TournamentGames.as_view(), name="tournament-games"
    ),
]
