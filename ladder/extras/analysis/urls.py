"""The routes of the REST API for analyses, below /api/v1/."""

from ladder.common.http import routes
from ladder.extras.analysis import views

urlpatterns = routes(
    [
        ("games/<int:pk>/analyses/", views.AnalysisList, "game-analyses"),
        ("analyses/<int:pk>/", views.AnalysisDetail, "analysis"),
    ]
)
