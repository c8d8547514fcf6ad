from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.generic import RedirectView
from django.views.i18n import set_language

from ladder.common.http import routes
from ladder.tournaments.organising import Step
from ladder.web.api import bot_search
from ladder.web.pages import (
    account_views,
    analysis_views,
    comparison_views,
    credential_views,
    editor_views,
    feeds,
    follow_views,
    github_views,
    guest_views,
    learn_views,
    log_views,
    operate_views,
    organise_views,
    practice_views,
    puzzle_views,
    replay_views,
    results_views,
    script_texts,
    share_views,
    tv_views,
    views,
    webhook_views,
)
from ladder.web.server import stream_views

urlpatterns = routes(
    [
        ("", views.HomePage, "home"),
        ("leaderboard/", views.ToLeaderboard, "leaderboard"),
        ("ladders/", views.LaddersPage, "ladders-page"),
        ("ladders/<slug:slug>/", views.LadderPage, "ladder-page"),
        ("ladders/<slug:slug>/compare/", views.ComparePage, "compare"),
        ("ladders/<slug:slug>/challenge/", account_views.ChallengePage, "challenge"),
        ("bots/", views.BotsPage, "bots-page"),
        ("bots/search.json", bot_search.BotSearch, "bot-search"),
        ("bots/<slug:slug>/", views.BotPage, "bot-page"),
        (
            "bots/<slug:slug>/weaknesses/",
            analysis_views.WeaknessesPage,
            "weaknesses",
        ),
        ("bots/<slug:slug>/upload/", account_views.UploadAction, "upload"),
        (
            "bots/<slug:slug>/compare-versions/",
            comparison_views.StartComparisonAction,
            "compare-versions",
        ),
        ("comparisons/<int:pk>/", comparison_views.ComparisonPage, "comparison-page"),
        (
            "comparisons/<int:pk>/cancel/",
            comparison_views.CancelComparisonAction,
            "comparison-cancel",
        ),
        ("bots/<slug:slug>/withdraw/", account_views.WithdrawAction, "bot-withdraw"),
        (
            "bots/<slug:slug>/bring-back/",
            account_views.BringBackAction,
            "bot-bring-back",
        ),
        (
            "bots/<slug:slug>/practice/",
            practice_views.OpenToPracticeAction,
            "bot-practice",
        ),
        *(
            (
                f"bots/<slug:slug>/ladders/<slug:ladder>/{action}/",
                account_views.LadderAction,
                f"ladder-{action}",
                {"action": action},
            )
            for action in ("join", "leave")
        ),
        ("submissions/<int:pk>/", views.SubmissionPage, "submission-page"),
        (
            "submissions/<int:pk>/progress.html",
            views.SubmissionProgress,
            "submission-progress",
        ),
        (
            "submissions/<int:pk>/activate/",
            account_views.ActivateAction,
            "submission-activate",
        ),
        ("games/", views.GamesPage, "games-page"),
        ("games/<int:pk>/", views.GamePage, "game-page"),
        ("games/<int:pk>/frames.json", replay_views.GameFrames, "frames"),
        ("games/<int:pk>/legal.json", replay_views.GameLegalActions, "legal"),
        ("games/<int:pk>/stream/", stream_views.GameStream, "game-stream"),
        ("games/<int:pk>/analysis/", analysis_views.AnalysisPage, "analysis-page"),
        ("games/<int:pk>/what-if/", analysis_views.WhatIfPage, "what-if-page"),
        ("position/", analysis_views.PositionPage, "position-page"),
        ("learn/", learn_views.LearnPage, "learn"),
        ("learn/<int:number>/", learn_views.LearnPage, "lesson"),
        ("puzzles/", puzzle_views.PuzzlesPage, "puzzles"),
        ("puzzles/today/", puzzle_views.TodayPage, "puzzle-today"),
        ("puzzles/<int:number>/", puzzle_views.PuzzlePage, "puzzle"),
        ("puzzles/<int:number>/card.png", puzzle_views.PuzzleCard, "puzzle-card"),
        ("puzzles/<int:number>/turn.json", puzzle_views.PuzzleTurn, "puzzle-turn"),
        (
            "games/<int:pk>/analyse/",
            analysis_views.RequestAnalysisAction,
            "request-analysis",
        ),
        ("tv/", tv_views.TvPage, "tv"),
        ("live/stream/", stream_views.LiveStream, "live-stream"),
        ("games/<int:pk>/board.svg", replay_views.GameBoard, "board"),
        ("games/<int:pk>/card.png", share_views.GameCard, "game-card"),
        ("games/<int:pk>/last-phase.gif", share_views.LastPhase, "last-phase"),
        ("bots/<slug:slug>/feed.atom", feeds.BotFeed, "bot-feed"),
        ("ladders/<slug:slug>/feed.atom", feeds.LadderFeed, "ladder-feed"),
        ("tournaments/<slug:slug>/feed.atom", feeds.TournamentFeed, "tournament-feed"),
        ("bots/<slug:slug>/card.png", share_views.BotCard, "bot-card"),
        ("ladders/<slug:slug>/card.png", share_views.LadderCard, "ladder-card"),
        (
            "tournaments/<slug:slug>/card.png",
            share_views.TournamentCard,
            "tournament-card",
        ),
        ("follow/", follow_views.FollowPage, "follow"),
        ("unsubscribe/", follow_views.UnsubscribePage, "unsubscribe"),
        ("oembed/", share_views.OEmbed, "oembed"),
        ("games/<int:pk>/embed/", replay_views.EmbeddedGame, "embedded-game"),
        ("replay/", replay_views.ReplayFilePage, "replay-file"),
        ("matches/<int:pk>/", views.MatchPage, "match-page"),
        ("tournaments/", views.TournamentsPage, "tournaments-page"),
        ("tournaments/<slug:slug>/", views.TournamentPage, "tournament-page"),
        *(
            (
                f"tournaments/<slug:slug>/{action}/",
                account_views.TournamentEntryAction,
                f"tournament-{action}",
                {"action": action},
            )
            for action in ("enter", "check-in", "withdraw")
        ),
        ("organise/", organise_views.OrganisePage, "organise"),
        ("organise/new/", organise_views.NewTournamentPage, "organise-new"),
        *(
            (f"organise/<slug:slug>/{address}", view, f"organise-{name}")
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
            (
                f"organise/<slug:slug>/{step}/",
                organise_views.StepAction,
                f"organise-{step}",
                {"step": step},
            )
            for step in Step
        ),
        ("operate/", operate_views.OperatePage, "operate"),
        ("operate/<slug:act>/", operate_views.ActPage, "operate-act"),
        ("anomalies/", operate_views.AnomaliesPage, "anomalies"),
        ("play/", practice_views.PlayPage, "play"),
        ("play/guest/", guest_views.GuestGameAction, "play-guest"),
        ("play/<int:pk>/", practice_views.PracticePage, "practice"),
        *(
            (f"play/<int:pk>/{address}", view, f"practice-{name}")
            for name, address, view in (
                ("state", "state.json", practice_views.PracticeState),
                ("preview", "preview/", practice_views.PracticePreview),
                ("hints", "hints/", practice_views.PracticeHints),
                ("answers", "answers/", practice_views.PracticeAnswers),
                ("give-up", "give-up/", practice_views.GiveUpAction),
                ("frames", "frames.json", practice_views.PracticeFrames),
                ("replay", "replay.json", practice_views.PracticeReplay),
                ("board", "board.svg", practice_views.PracticeBoard),
            )
        ),
        ("write/", editor_views.WritePage, "write"),
        *(
            (f"write/<int:pk>/{address}", view, name)
            for name, address, view in (
                ("trial", "", editor_views.TrialPage),
                ("trial-progress", "progress.html", editor_views.TrialProgress),
                ("trial-frames", "frames.json", editor_views.TrialFrames),
                ("trial-submit", "submit/", editor_views.SubmitTrialAction),
            )
        ),
        ("docs/", views.DocsIndexPage, "docs"),
        ("docs/schemas/<slug:name>.json", views.SchemaFile, "schema-file"),
        ("log/", log_views.PublicLogPage, "public-log"),
        ("log/operators-hand/", log_views.OperatorsHandPage, "operators-hand"),
        ("docs/problems/", views.ProblemsPage, "problems"),
        ("docs/protocol/", views.DocumentPage, "protocol", {"name": "protocol"}),
        # The protocol page had this URL before there were other pages.
        path(
            "docs/bots/", RedirectView.as_view(pattern_name="protocol", permanent=True)
        ),
        ("docs/<path:name>/", views.DocumentPage, "document"),
        ("sign-in/", views.SignInPage, "sign-in"),
        ("sign-in/github/", github_views.GitHubSignIn, "github"),
        ("sign-in/github/callback/", github_views.GitHubCallback, "github-callback"),
        ("me/github/unlink/", github_views.GitHubUnlink, "github-unlink"),
        ("sign-out/", views.SignOutAction, "sign-out"),
        ("sign-up/", credential_views.SignUpPage, "sign-up"),
        ("confirm-email/", credential_views.ConfirmAddressPage, "confirm-email"),
        ("password-reset/", credential_views.ForgottenPasswordPage, "password-reset"),
        (
            "password-reset/sent/",
            credential_views.PasswordSentPage,
            "password-reset-sent",
        ),
        (
            "password-reset/<uidb64>/<token>/",
            credential_views.NewPasswordPage,
            "password-reset-confirm",
        ),
        ("me/password/", credential_views.PasswordPage, "password"),
        ("me/email/", credential_views.AddressPage, "email"),
        ("me/delete/", credential_views.DeleteAccountPage, "delete-account"),
        # Without a CSRF token, because shared pages have none. A forged request could
        # only change the language.
        path("language/", csrf_exempt(set_language), name="language"),
        # Without a token, too: a forged request could only hide or show results.
        path(
            "results/",
            csrf_exempt(results_views.ResultsAction.as_view()),
            name="results",
        ),
        ("language/<slug:language>.js", script_texts.ScriptTexts, "script-texts"),
        ("me/", account_views.AccountPage, "me"),
        ("me/bots/", account_views.CreateBotAction, "create-bot"),
        ("me/tokens/", account_views.TokensPage, "tokens"),
        ("me/tokens/<int:pk>/revoke/", account_views.RevokeTokenAction, "revoke-token"),
        ("me/follows/", follow_views.FollowsPage, "follows"),
        ("me/webhooks/", webhook_views.WebhooksPage, "webhooks"),
        (
            "me/webhooks/<int:pk>/delete/",
            webhook_views.DeleteWebhookAction,
            "delete-webhook",
        ),
    ]
)
