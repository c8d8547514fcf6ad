from django.urls import path

from ladder.public_log import views

api = [
    path("games/<int:pk>/receipt/", views.GameReceipt.as_view(), name="game-receipt"),
    path(
        "submissions/<int:pk>/receipt/",
        views.SubmissionReceipt.as_view(),
        name="submission-receipt",
    ),
]
urlpatterns = [
    path("log/checkpoint", views.checkpoint, name="log-checkpoint"),
    path("log/key", views.key, name="log-key"),
    path("log/tile/<path:path>", views.tile, name="log-tile"),
    path("log/cosignatures", views.CosignatureList.as_view(), name="log-cosignatures"),
]
