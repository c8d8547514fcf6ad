from django.urls import path

from ladder.moderation.models import AuditEntry
from ladder.ratings.views import leaderboards, memberships, operators, statistics

_KIND = AuditEntry.Kind
_BOT = "operate/bots/<slug:slug>/"
_LADDER = "operate/ladders/<slug:slug>/"
_ACCOUNT = "operate/accounts/<str:name>/"

operator_routes = [
    *(
        path(
            f"{_BOT}{kind}/",
            operators.BotAction.as_view(kind=kind),
            name=f"operate-{kind}",
        )
        for kind in (_KIND.BAN, _KIND.BENCH, _KIND.WITHDRAW, _KIND.REINSTATE)
    ),
    path(f"{_BOT}merge/", operators.BotMerge.as_view(), name="operate-merge"),
    *(
        path(
            f"{_BOT}{kind}/",
            operators.BotLadderAction.as_view(kind=kind),
            name=f"operate-{kind}",
        )
        for kind in (_KIND.JOIN, _KIND.LEAVE)
    ),
    *(
        path(
            f"operate/games/<int:pk>/{kind}/",
            operators.GameAction.as_view(kind=kind),
            name=f"operate-{kind}",
        )
        for kind in (_KIND.VOID, _KIND.RERUN)
    ),
    *(
        path(
            f"{_LADDER}{kind}/",
            operators.SeasonAction.as_view(kind=kind),
            name=f"operate-{kind}",
        )
        for kind in (_KIND.START, _KIND.FREEZE, _KIND.REOPEN, _KIND.ARCHIVE)
    ),
    path(f"{_LADDER}finals/", operators.SeasonFinals.as_view(), name="operate-finals"),
    *(
        path(
            f"{_ACCOUNT}{word}/",
            operators.AccountAction.as_view(kind=kind),
            name=f"operate-{word}",
        )
        for word, kind in (
            ("delete", _KIND.DELETE_ACCOUNT),
            ("organiser", _KIND.ORGANISER),
            ("no-organiser", _KIND.NO_ORGANISER),
        )
    ),
    path("operate/workers/", operators.WorkerList.as_view(), name="operate-workers"),
    *(
        path(
            f"operate/workers/{kind}/",
            operators.WorkerAction.as_view(kind=kind),
            name=f"operate-{kind}",
        )
        for kind in (_KIND.DRAIN, _KIND.UNDRAIN)
    ),
]

urlpatterns = [
    *operator_routes,
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
