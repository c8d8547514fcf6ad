"""The routes of the REST API for comparisons, below /api/v1/."""

from ladder.common.http import routes
from ladder.extras.comparisons import views

urlpatterns = routes(
    [
        ("bots/<slug:slug>/comparisons/", views.ComparisonList, "version-comparisons"),
        ("comparisons/<int:pk>/", views.ComparisonDetail, "version-comparison"),
        ("comparisons/<int:pk>/cancel/", views.ComparisonCancel, "cancel-comparison"),
    ]
)
