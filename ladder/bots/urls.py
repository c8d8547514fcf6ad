from ladder.bots import views
from ladder.common.http import routes

urlpatterns = routes(
    [
        ("bots/", views.BotList, "bots"),
        ("bots/<slug:slug>/", views.BotDetail, "bot"),
        ("bots/<slug:slug>/withdraw/", views.BotWithdraw, "withdraw"),
        ("bots/<slug:slug>/bring-back/", views.BotBringBack, "bring-back"),
        ("bots/<slug:slug>/submissions/", views.SubmissionList, "bot-submissions"),
        ("submissions/<int:pk>/", views.SubmissionDetail, "submission"),
        (
            "submissions/<int:pk>/activate/",
            views.SubmissionActivate,
            "submission-activate",
        ),
        ("submissions/<int:pk>/log/", views.SubmissionLog, "submission-log"),
        (
            "submissions/<int:pk>/archive/",
            views.SubmissionArchive,
            "submission-archive",
        ),
    ]
)
