from django.apps import AppConfig


class PracticeConfig(AppConfig):
    name = "ladder.extras.practice"
