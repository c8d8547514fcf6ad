from django.urls import path

from ladder.games import export_views, views

urlpatterns = [
    path("languages/", views.LanguageList.as_view(), name="languages"),
    path("matches/<int:pk>/", views.MatchDetail.as_view(), name="match"),
    path("games/", views.GameList.as_view(), name="games"),
    path("games/<int:pk>/", views.GameDetail.as_view(), name="game"),
    path("games/<int:pk>/replay/", views.GameReplay.as_view(), name="replay"),
    path("games/<int:pk>/moves/", views.GameMoves.as_view(), name="moves"),
    path("exports/games/", export_views.GameExport.as_view(), name="export-games"),
    path(
        "exports/replays/", export_views.ReplayExport.as_view(), name="export-replays"
    ),
    path("games/<int:pk>/logs/", views.GameLogs.as_view(), name="game-logs"),
]
