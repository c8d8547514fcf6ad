"""The routes of the REST API for tournaments, below /api/v1/."""

from django.urls import path

from ladder.tournaments import match_views, views

_TOURNAMENT = "tournaments/<slug:slug>/"

urlpatterns = [
    path("matches/", match_views.MatchList.as_view(), name="matches"),
    path("tournaments/", views.TournamentList.as_view(), name="tournaments"),
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
