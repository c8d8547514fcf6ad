from django.apps import AppConfig


class GamesConfig(AppConfig):
    name = "ladder.games"
