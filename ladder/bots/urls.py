from django.urls import path

from ladder.bots import views

urlpatterns = [
    path("bots/", views.Bots.as_view(), name="bots"),
    path("bots/<slug:slug>/", views.OneBot.as_view(), name="bot"),
    path("bots/<slug:slug>/withdraw/", views.Withdraw.as_view(), name="withdraw"),
    path("bots/<slug:slug>/bring-back/", views.BringBack.as_view(), name="bring-back"),
    path(
        "bots/<slug:slug>/submissions/",
        views.BotSubmissions.as_view(),
        name="bot-submissions",
    ),
    path("submissions/<int:pk>/", views.OneSubmission.as_view(), name="submission"),
    path(
        "submissions/<int:pk>/activate/",
        views.Activate.as_view(),
        name="submission-activate",
    ),
    path(
        "submissions/<int:pk>/log/",
        views.SubmissionLog.as_view(),
        name="submission-log",
    ),
    path(
        "submissions/<int:pk>/archive/",
        views.SubmissionArchive.as_view(),
        name="submission-archive",
    ),
]
