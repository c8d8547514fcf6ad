from ladder.common.http import routes
from ladder.ratings.views import leaderboards, memberships, statistics

_ONE = "ladders/<slug:slug>/"
_PLACE = f"{_ONE}bots/<slug:bot>/"

urlpatterns = routes(
    [
        ("ladders/", leaderboards.LadderList, "ladders"),
        ("strengths/", statistics.CombinedStrengths, "combined-strengths"),
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
        (
            f"{_PLACE}second-opinion/",
            statistics.OpinionHistory,
            "second-opinion-history",
        ),
        (f"{_PLACE}against/", statistics.BotOpponents, "opponents"),
        (f"{_PLACE}against/<slug:other>/", statistics.HeadToHead, "meeting"),
        (f"{_PLACE}against/<slug:other>/deals/", statistics.DealByDeal, "deals"),
        ("bots/<slug:slug>/ladders/", memberships.BotLadders, "places"),
    ]
)
