from ladder.common.http import routes
from ladder.extras.datasets import views

urlpatterns = routes(
    [
        ("datasets/", views.DatasetList, "datasets"),
        ("datasets/<slug:day>/manifest.json", views.DatasetManifest, "dataset"),
        ("datasets/<slug:day>/<path:name>", views.DatasetFile, "dataset-file"),
    ]
)
