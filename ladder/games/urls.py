from django.urls import path

from ladder.games import views

urlpatterns = [
    path("games/<int:pk>/replay/", views.GameReplay.as_view(), name="replay"),
    path("games/<int:pk>/moves/", views.GameMoves.as_view(), name="moves"),
    path("games/<int:pk>/logs/", views.GameLogs.as_view(), name="game-logs"),
]
