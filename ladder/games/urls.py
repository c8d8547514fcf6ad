from ladder.common.http import routes
from ladder.games import export_views, views

urlpatterns = routes(
    [
        ("languages/", views.LanguageList, "languages"),
        ("matches/<int:pk>/", views.MatchDetail, "match"),
        ("games/", views.GameList, "games"),
        ("games/<int:pk>/", views.GameDetail, "game"),
        ("games/<int:pk>/replay/", views.GameReplay, "replay"),
        ("games/<int:pk>/moves/", views.GameMoves, "moves"),
        ("exports/games/", export_views.GameExport, "export-games"),
        ("exports/replays/", export_views.ReplayExport, "export-replays"),
        ("games/<int:pk>/logs/", views.GameLogs, "game-logs"),
    ]
)
