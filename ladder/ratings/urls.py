from django.urls import path

from ladder.ratings.views import leaderboards, statistics

urlpatterns = [
    path("ladders/", leaderboards.Ladders.as_view(), name="ladders"),
    path("ladders/<slug:slug>/", leaderboards.OneLadder.as_view(), name="ladder"),
    path(
        "ladders/<slug:slug>/leaderboard/",
        leaderboards.Leaderboard.as_view(),
        name="leaderboard",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/history/",
        leaderboards.History.as_view(),
        name="history",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/record/",
        statistics.Record.as_view(),
        name="record",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/against/",
        statistics.Opponents.as_view(),
        name="opponents",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/against/<slug:other>/",
        statistics.Meeting.as_view(),
        name="meeting",
    ),
    path("ladders/<slug:slug>/bands/", statistics.Bands.as_view(), name="bands"),
    path(
        "ladders/<slug:slug>/challenges/",
        statistics.Challenges.as_view(),
        name="challenges",
    ),
    path("matches/", leaderboards.Matches.as_view(), name="matches"),
    path("matches/<int:pk>/", leaderboards.OneMatch.as_view(), name="match"),
    path("games/", leaderboards.Games.as_view(), name="games"),
    path("games/<int:pk>/", leaderboards.OneGame.as_view(), name="game"),
]
