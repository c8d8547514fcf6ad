from django.apps import AppConfig


class AnomaliesConfig(AppConfig):
    name = "ladder.extras.anomalies"
