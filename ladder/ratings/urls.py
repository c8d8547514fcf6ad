from django.urls import path

from ladder.ratings.views import leaderboards, memberships, statistics

urlpatterns = [
    path("ladders/", leaderboards.LadderList.as_view(), name="ladders"),
    path("ladders/<slug:slug>/", leaderboards.LadderDetail.as_view(), name="ladder"),
    path(
        "ladders/<slug:slug>/leaderboard/",
        leaderboards.LeaderboardView.as_view(),
        name="leaderboard",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/history/",
        leaderboards.RatingHistory.as_view(),
        name="history",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/record/",
        statistics.BotRecord.as_view(),
        name="record",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/against/",
        statistics.BotOpponents.as_view(),
        name="opponents",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/against/<slug:other>/",
        statistics.HeadToHead.as_view(),
        name="meeting",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/against/<slug:other>/deals/",
        statistics.DealByDeal.as_view(),
        name="deals",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/",
        memberships.LadderPlaceDetail.as_view(),
        name="place",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/join/",
        memberships.LadderJoin.as_view(),
        name="join",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/leave/",
        memberships.LadderLeave.as_view(),
        name="leave",
    ),
    path("bots/<slug:slug>/ladders/", memberships.BotLadders.as_view(), name="places"),
    path("ladders/<slug:slug>/bands/", statistics.TieBands.as_view(), name="bands"),
    path(
        "ladders/<slug:slug>/second-opinion/",
        statistics.SecondOpinionPage.as_view(),
        name="second-opinion",
    ),
    path(
        "ladders/<slug:slug>/bots/<slug:bot>/second-opinion/",
        statistics.OpinionHistory.as_view(),
        name="second-opinion-history",
    ),
    path(
        "ladders/<slug:slug>/challenges/",
        statistics.ChallengeList.as_view(),
        name="challenges",
    ),
]
