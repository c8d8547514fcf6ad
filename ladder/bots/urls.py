from django.urls import path

from ladder.bots import views

urlpatterns = [
    path("bots/", views.BotList.as_view(), name="bots"),
    path("bots/<slug:slug>/", views.BotDetail.as_view(), name="bot"),
    path("bots/<slug:slug>/withdraw/", views.BotWithdraw.as_view(), name="withdraw"),
    path(
        "bots/<slug:slug>/bring-back/", views.BotBringBack.as_view(), name="bring-back"
    ),
    path(
        "bots/<slug:slug>/submissions/",
        views.SubmissionList.as_view(),
        name="bot-submissions",
    ),
    path("submissions/<int:pk>/", views.SubmissionDetail.as_view(), name="submission"),
    path(
        "submissions/<int:pk>/activate/",
        views.SubmissionActivate.as_view(),
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
