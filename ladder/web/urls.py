from django.urls import path

from ladder.web import account_views, views

urlpatterns = [
    path("", views.Home.as_view(), name="home"),
    path("ladders/<slug:slug>/", views.LadderPage.as_view(), name="ladder-page"),
    path("ladders/<slug:slug>/compare/", views.Compare.as_view(), name="compare"),
    path(
        "ladders/<slug:slug>/challenge/",
        account_views.Challenge.as_view(),
        name="challenge",
    ),
    path("bots/", views.Bots.as_view(), name="bots-page"),
    path("bots/<slug:slug>/", views.BotPage.as_view(), name="bot-page"),
    path("bots/<slug:slug>/upload/", account_views.Upload.as_view(), name="upload"),
    path(
        "bots/<slug:slug>/withdraw/",
        account_views.Withdraw.as_view(),
        name="bot-withdraw",
    ),
    path(
        "bots/<slug:slug>/bring-back/",
        account_views.BringBack.as_view(),
        name="bot-bring-back",
    ),
    path(
        "submissions/<int:pk>/", views.SubmissionPage.as_view(), name="submission-page"
    ),
    path(
        "submissions/<int:pk>/activate/",
        account_views.Activate.as_view(),
        name="submission-activate",
    ),
    path("games/", views.Games.as_view(), name="games-page"),
    path("games/<int:pk>/", views.GamePage.as_view(), name="game-page"),
    path("games/<int:pk>/frames.json", views.Frames.as_view(), name="frames"),
    path("matches/<int:pk>/", views.MatchPage.as_view(), name="match-page"),
    path("tournaments/", views.Tournaments.as_view(), name="tournaments-page"),
    path(
        "tournaments/<slug:slug>/",
        views.TournamentPage.as_view(),
        name="tournament-page",
    ),
    *(
        path(
            f"tournaments/<slug:slug>/{what}/",
            account_views.TournamentEntry.as_view(),
            {"what": what},
            name=f"tournament-{what}",
        )
        for what in ("enter", "check-in", "withdraw")
    ),
    path("docs/bots/", views.Protocol.as_view(), name="protocol"),
    path("docs/problems/", views.Problems.as_view(), name="problems"),
    path("sign-in/", views.SignIn.as_view(), name="sign-in"),
    path("sign-out/", views.SignOut.as_view(), name="sign-out"),
    path("me/", account_views.Me.as_view(), name="me"),
    path("me/bots/", account_views.CreateBot.as_view(), name="create-bot"),
    path("me/tokens/", account_views.CreateToken.as_view(), name="create-token"),
    path(
        "me/tokens/<int:pk>/revoke/",
        account_views.RevokeToken.as_view(),
        name="revoke-token",
    ),
]
