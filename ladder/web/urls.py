from django.urls import path
from django.views.generic import RedirectView

from ladder.tournaments.organising import Step
from ladder.web.api import search_views
from ladder.web.pages import (
    account_views,
    analysis_views,
    anomaly_views,
    comparison_views,
    credential_views,
    github_views,
    log_views,
    operate_views,
    organise_views,
    practice_views,
    replay_views,
    views,
    webhook_views,
)
from ladder.web.server import stream_views

urlpatterns = [
    path("", views.HomePage.as_view(), name="home"),
    path("ladders/", views.LaddersPage.as_view(), name="ladders-page"),
    path("ladders/<slug:slug>/", views.LadderPage.as_view(), name="ladder-page"),
    path("ladders/<slug:slug>/compare/", views.ComparePage.as_view(), name="compare"),
    path(
        "ladders/<slug:slug>/challenge/",
        account_views.ChallengePage.as_view(),
        name="challenge",
    ),
    path("bots/", views.BotsPage.as_view(), name="bots-page"),
    path("bots/search.json", search_views.BotSearch.as_view(), name="bot-search"),
    path("bots/<slug:slug>/", views.BotPage.as_view(), name="bot-page"),
    path(
        "bots/<slug:slug>/upload/", account_views.UploadAction.as_view(), name="upload"
    ),
    path(
        "bots/<slug:slug>/compare-versions/",
        comparison_views.StartComparisonAction.as_view(),
        name="compare-versions",
    ),
    path(
        "comparisons/<int:pk>/",
        comparison_views.ComparisonPage.as_view(),
        name="comparison-page",
    ),
    path(
        "comparisons/<int:pk>/cancel/",
        comparison_views.CancelComparisonAction.as_view(),
        name="comparison-cancel",
    ),
    path(
        "bots/<slug:slug>/withdraw/",
        account_views.WithdrawAction.as_view(),
        name="bot-withdraw",
    ),
    path(
        "bots/<slug:slug>/bring-back/",
        account_views.BringBackAction.as_view(),
        name="bot-bring-back",
    ),
    path(
        "bots/<slug:slug>/practice/",
        practice_views.OpenToPracticeAction.as_view(),
        name="bot-practice",
    ),
    *(
        path(
            f"bots/<slug:slug>/ladders/<slug:ladder>/{action}/",
            account_views.LadderAction.as_view(),
            {"action": action},
            name=f"ladder-{action}",
        )
        for action in ("join", "leave")
    ),
    path(
        "submissions/<int:pk>/", views.SubmissionPage.as_view(), name="submission-page"
    ),
    path(
        "submissions/<int:pk>/progress.html",
        views.SubmissionProgress.as_view(),
        name="submission-progress",
    ),
    path(
        "submissions/<int:pk>/activate/",
        account_views.ActivateAction.as_view(),
        name="submission-activate",
    ),
    path("games/", views.GamesPage.as_view(), name="games-page"),
    path("games/<int:pk>/", views.GamePage.as_view(), name="game-page"),
    path(
        "games/<int:pk>/frames.json", replay_views.GameFrames.as_view(), name="frames"
    ),
    path(
        "games/<int:pk>/legal.json",
        replay_views.GameLegalActions.as_view(),
        name="legal",
    ),
    path(
        "games/<int:pk>/stream/", stream_views.GameStream.as_view(), name="game-stream"
    ),
    path(
        "games/<int:pk>/analysis/",
        analysis_views.AnalysisPage.as_view(),
        name="analysis-page",
    ),
    path(
        "games/<int:pk>/what-if/",
        analysis_views.WhatIfPage.as_view(),
        name="what-if-page",
    ),
    path(
        "games/<int:pk>/analyse/",
        analysis_views.RequestAnalysisAction.as_view(),
        name="request-analysis",
    ),
    path("live/stream/", stream_views.LiveStream.as_view(), name="live-stream"),
    path("games/<int:pk>/board.svg", replay_views.GameBoard.as_view(), name="board"),
    path(
        "games/<int:pk>/embed/",
        replay_views.EmbeddedGame.as_view(),
        name="embedded-game",
    ),
    path("replay/", replay_views.ReplayFilePage.as_view(), name="replay-file"),
    path("matches/<int:pk>/", views.MatchPage.as_view(), name="match-page"),
    path("tournaments/", views.TournamentsPage.as_view(), name="tournaments-page"),
    path(
        "tournaments/<slug:slug>/",
        views.TournamentPage.as_view(),
        name="tournament-page",
    ),
    *(
        path(
            f"tournaments/<slug:slug>/{action}/",
            account_views.TournamentEntryAction.as_view(),
            {"action": action},
            name=f"tournament-{action}",
        )
        for action in ("enter", "check-in", "withdraw")
    ),
    path("organise/", organise_views.OrganisePage.as_view(), name="organise"),
    path(
        "organise/new/",
        organise_views.NewTournamentPage.as_view(),
        name="organise-new",
    ),
    *(
        path(f"organise/<slug:slug>/{address}", view.as_view(), name=f"organise-{name}")
        for name, address, view in (
            ("tournament", "", organise_views.OrganisedTournamentPage),
            ("edit", "edit/", organise_views.EditTournamentPage),
            ("enter", "entrants/", organise_views.EnterBotAction),
            ("replace", "replace/", organise_views.ReplaceEntrantAction),
            ("seeds", "seeds/", organise_views.SeedsAction),
            (
                "withdraw",
                "entrants/<slug:bot>/withdraw/",
                organise_views.WithdrawEntrantAction,
            ),
        )
    ),
    *(
        path(
            f"organise/<slug:slug>/{step}/",
            organise_views.StepAction.as_view(),
            {"step": step},
            name=f"organise-{step}",
        )
        for step in Step
    ),
    path("operate/", operate_views.OperatePage.as_view(), name="operate"),
    path("operate/<slug:act>/", operate_views.ActPage.as_view(), name="operate-act"),
    path("anomalies/", anomaly_views.AnomaliesPage.as_view(), name="anomalies"),
    path("play/", practice_views.PlayPage.as_view(), name="play"),
    path("play/<int:pk>/", practice_views.PracticePage.as_view(), name="practice"),
    *(
        path(f"play/<int:pk>/{address}", view.as_view(), name=f"practice-{name}")
        for name, address, view in (
            ("state", "state.json", practice_views.PracticeState),
            ("preview", "preview/", practice_views.PracticePreview),
            ("answers", "answers/", practice_views.PracticeAnswers),
            ("give-up", "give-up/", practice_views.GiveUpAction),
            ("frames", "frames.json", practice_views.PracticeFrames),
            ("replay", "replay.json", practice_views.PracticeReplay),
            ("board", "board.svg", practice_views.PracticeBoard),
        )
    ),
    path("docs/", views.DocsIndexPage.as_view(), name="docs"),
    path(
        "docs/schemas/<slug:name>.json", views.SchemaFile.as_view(), name="schema-file"
    ),
    path("log/", log_views.PublicLogPage.as_view(), name="public-log"),
    path(
        "log/operators-hand/",
        log_views.OperatorsHandPage.as_view(),
        name="operators-hand",
    ),
    path("docs/problems/", views.ProblemsPage.as_view(), name="problems"),
    path(
        "docs/protocol/",
        views.DocumentPage.as_view(),
        {"name": "protocol"},
        name="protocol",
    ),
    # The protocol page had this URL before there were other pages.
    path("docs/bots/", RedirectView.as_view(pattern_name="protocol", permanent=True)),
    path("docs/<path:name>/", views.DocumentPage.as_view(), name="document"),
    path("sign-in/", views.SignInPage.as_view(), name="sign-in"),
    path("sign-in/github/", github_views.GitHubSignIn.as_view(), name="github"),
    path(
        "sign-in/github/callback/",
        github_views.GitHubCallback.as_view(),
        name="github-callback",
    ),
    path(
        "me/github/unlink/", github_views.GitHubUnlink.as_view(), name="github-unlink"
    ),
    path("sign-out/", views.SignOutAction.as_view(), name="sign-out"),
    path("sign-up/", credential_views.SignUpPage.as_view(), name="sign-up"),
    path(
        "confirm-email/",
        credential_views.ConfirmAddressPage.as_view(),
        name="confirm-email",
    ),
    path(
        "password-reset/",
        credential_views.ForgottenPasswordPage.as_view(),
        name="password-reset",
    ),
    path(
        "password-reset/sent/",
        credential_views.PasswordSentPage.as_view(),
        name="password-reset-sent",
    ),
    path(
        "password-reset/<uidb64>/<token>/",
        credential_views.NewPasswordPage.as_view(),
        name="password-reset-confirm",
    ),
    path("me/password/", credential_views.PasswordPage.as_view(), name="password"),
    path("me/email/", credential_views.AddressPage.as_view(), name="email"),
    path(
        "me/delete/",
        credential_views.DeleteAccountPage.as_view(),
        name="delete-account",
    ),
    path("me/", account_views.AccountPage.as_view(), name="me"),
    path("me/bots/", account_views.CreateBotAction.as_view(), name="create-bot"),
    path("me/tokens/", account_views.CreateTokenAction.as_view(), name="create-token"),
    path(
        "me/tokens/<int:pk>/revoke/",
        account_views.RevokeTokenAction.as_view(),
        name="revoke-token",
    ),
    path(
        "me/webhooks/",
        webhook_views.CreateWebhookAction.as_view(),
        name="create-webhook",
    ),
    path(
        "me/webhooks/<int:pk>/delete/",
        webhook_views.DeleteWebhookAction.as_view(),
        name="delete-webhook",
    ),
]
