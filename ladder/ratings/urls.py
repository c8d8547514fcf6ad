from django.urls import path

from ladder.moderation.models import AuditEntry
from ladder.ratings.views import leaderboards, memberships, operators, statistics

_KIND = AuditEntry.Kind
_BOT = "operate/bots/<slug:slug>/"
_LADDER = "operate/ladders/<slug:slug>/"
_ONE = "ladders/<slug:slug>/"
_PLACE = f"{_ONE}bots/<slug:bot>/"
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

_routes = (
    ("ladders/", leaderboards.LadderList, "ladders"),
    (_ONE, leaderboards.LadderDetail, "ladder"),
    (f"{_ONE}leaderboard/", leaderboards.LeaderboardView, "leaderboard"),
    (f"{_ONE}bands/", statistics.TieBands, "bands"),
    (f"{_ONE}second-opinion/", statistics.SecondOpinionPage, "second-opinion"),
    (f"{_ONE}challenges/", statistics.ChallengeList, "challenges"),
    (_PLACE, memberships.LadderPlaceDetail, "place"),
    (f"{_PLACE}join/", memberships.LadderJoin, "join"),
    (f"{_PLACE}leave/", memberships.LadderLeave, "leave"),
    (f"{_PLACE}history/", leaderboards.RatingHistory, "history"),
    (f"{_PLACE}record/", statistics.BotRecord, "record"),
    (f"{_PLACE}second-opinion/", statistics.OpinionHistory, "second-opinion-history"),
    (f"{_PLACE}against/", statistics.BotOpponents, "opponents"),
    (f"{_PLACE}against/<slug:other>/", statistics.HeadToHead, "meeting"),
    (f"{_PLACE}against/<slug:other>/deals/", statistics.DealByDeal, "deals"),
    ("bots/<slug:slug>/ladders/", memberships.BotLadders, "places"),
)
urlpatterns = [
    *operator_routes,
    *(path(address, view.as_view(), name=name) for address, view, name in _routes),
]
