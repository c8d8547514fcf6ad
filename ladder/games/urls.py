from django.urls import path

from ladder.games import views

urlpatterns = [
    path("games/<int:pk>/replay/", views.Replay.as_view(), name="replay"),
    path("games/<int:pk>/moves/", views.Moves.as_view(), name="moves"),
    path("games/<int:pk>/logs/", views.Logs.as_view(), name="game-logs"),
]
