from django.urls import path

from ladder.tournaments import views

_ONE = "tournaments/<slug:slug>/"

urlpatterns = [
    path("tournaments/", views.TournamentList.as_view(), name="tournaments"),
    path(_ONE, views.TournamentDetail.as_view(), name="tournament"),
    path(f"{_ONE}entrants/", views.EntrantList.as_view(), name="entrants"),
    path(f"{_ONE}entrants/<slug:bot>/", views.EntrantDetail.as_view(), name="entrant"),
    path(
        f"{_ONE}entrants/<slug:bot>/check-in/",
        views.EntrantCheckIn.as_view(),
        name="check-in",
    ),
    path(f"{_ONE}rounds/", views.TournamentRounds.as_view(), name="rounds"),
    path(f"{_ONE}bracket/", views.TournamentBracket.as_view(), name="bracket"),
    path(f"{_ONE}standings/", views.TournamentStandings.as_view(), name="standings"),
    path(
        f"{_ONE}standings/<slug:first>/<slug:second>/",
        views.EntrantComparison.as_view(),
        name="comparison",
    ),
    path(f"{_ONE}games/", views.TournamentGames.as_view(), name="tournament-games"),
]
