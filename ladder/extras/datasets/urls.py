from django.urls import path

from ladder.extras.datasets import views

urlpatterns = [
    path("datasets/", views.DatasetList.as_view(), name="datasets"),
    path(
        "datasets/<slug:day>/manifest.json",
        views.DatasetManifest.as_view(),
        name="dataset",
    ),
    path(
        "datasets/<slug:day>/<path:name>",
        views.DatasetFile.as_view(),
        name="dataset-file",
    ),
]
