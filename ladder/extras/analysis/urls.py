"""The routes of the REST API for analyses, below /api/v1/."""

from django.urls import path

from ladder.extras.analysis import views

urlpatterns = [
    path(
        "games/<int:pk>/analyses/", views.AnalysisList.as_view(), name="game-analyses"
    ),
    path("analyses/<int:pk>/", views.AnalysisDetail.as_view(), name="analysis"),
]
