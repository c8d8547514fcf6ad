from django.urls import path

from ladder.ratings import facts, views

urlpatterns = [
    path("ladders/", views.Ladders.as_view(), name="ladders"),
    path("ladders/<slug:slug>/", views.OneLadder.as_view(), name="ladder"),
    path(
        "ladders/<slug:slug>/leaderboard/",
        views.Leaderboard.as_view(),
        name="leaderboard",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/history/",
        views.History.as_view(),
        name="history",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/record/",
        facts.Record.as_view(),
        name="record",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/against/",
        facts.Opponents.as_view(),
        name="opponents",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/against/<slug:other>/",
        facts.Meeting.as_view(),
        name="meeting",
    ),
    path("ladders/<slug:slug>/bands/", facts.Bands.as_view(), name="bands"),
    path(
        "ladders/<slug:slug>/challenges/",
        facts.Challenges.as_view(),
        name="challenges",
    ),
    path("matches/", views.Matches.as_view(), name="matches"),
    path("matches/<int:pk>/", views.OneMatch.as_view(), name="match"),
    path("games/", views.Games.as_view(), name="games"),
    path("games/<int:pk>/", views.OneGame.as_view(), name="game"),
]
