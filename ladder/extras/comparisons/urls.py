"""The routes of the REST API for comparisons, below /api/v1/."""

from django.urls import path

from ladder.extras.comparisons import views

urlpatterns = [
    path(
        "bots/<slug:slug>/comparisons/",
        views.ComparisonList.as_view(),
        name="version-comparisons",
    ),
    path(
        "comparisons/<int:pk>/",
        views.ComparisonDetail.as_view(),
        name="version-comparison",
    ),
    path(
        "comparisons/<int:pk>/cancel/",
        views.ComparisonCancel.as_view(),
        name="cancel-comparison",
    ),
]
