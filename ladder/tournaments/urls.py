from django.urls import path

from ladder.tournaments import views

_ONE = "tournaments/<slug:slug>/"

urlpatterns = [
    path("tournaments/", views.Tournaments.as_view(), name="tournaments"),
    path(_ONE, views.OneTournament.as_view(), name="tournament"),
    path(f"{_ONE}entrants/", views.Entrants.as_view(), name="entrants"),
    path(f"{_ONE}entrants/<slug:bot>/", views.OneEntrant.as_view(), name="entrant"),
    path(
        f"{_ONE}entrants/<slug:bot>/check-in/",
        views.CheckIn.as_view(),
        name="check-in",
    ),
    path(f"{_ONE}rounds/", views.Rounds.as_view(), name="rounds"),
    path(f"{_ONE}bracket/", views.Bracket.as_view(), name="bracket"),
    path(f"{_ONE}standings/", views.Standings.as_view(), name="standings"),
    path(
        f"{_ONE}standings/<slug:first>/<slug:second>/",
        views.Comparison.as_view(),
        name="comparison",
    ),
    path(f"{_ONE}games/", views.Games.as_view(), name="tournament-games"),
]
