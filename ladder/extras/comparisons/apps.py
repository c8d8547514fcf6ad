from django.apps import AppConfig


class ComparisonsConfig(AppConfig):
    name = "ladder.extras.comparisons"
