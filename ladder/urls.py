"""The routes of the whole service. Each package has a `urls` module of its own."""

from django.contrib import admin
from django.templatetags.static import static
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from ladder.accounts import urls as accounts
from ladder.bots import urls as bots
from ladder.extras.analysis import urls as analysis
from ladder.extras.comparisons import urls as comparisons
from ladder.extras.datasets import urls as datasets
from ladder.extras.webhooks import urls as webhooks
from ladder.games import urls as games
from ladder.moderation import urls as moderation
from ladder.public_log import urls as public_log
from ladder.ratings import urls as ratings
from ladder.tournaments import urls as tournaments
from ladder.web import urls as web
from ladder.web.api import act_views, problems
from ladder.web.api.match_views import MatchList
from ladder.web.api.schema_view import SchemaPage, SchemaView
from ladder.web.api.service_views import ServiceStatus, WorkerSums
from ladder.web.server.event_views import EventList

api = [
    *accounts.urlpatterns,
    *bots.urlpatterns,
    *games.urlpatterns,
    *ratings.urlpatterns,
    *tournaments.urlpatterns,
    *comparisons.urlpatterns,
    *analysis.urlpatterns,
    *datasets.urlpatterns,
    path("matches/", MatchList.as_view(), name="matches"),
    path("events/", EventList.as_view(), name="events"),
    path("workers/", WorkerSums.as_view(), name="workers"),
    path("status/", ServiceStatus.as_view(), name="status"),
    *moderation.urlpatterns,
    *act_views.routes(),
    *webhooks.urlpatterns,
    *public_log.api,
]
admin.autodiscover()
admin.site.site_header = "Torres ladder"
admin.site.site_title = "Torres ladder"
urlpatterns = [
    path("api/v1/", include((api, "api"))),
    path("api/schema/", SchemaView.as_view(), name="schema"),
    path(
        "api/docs/",
        SchemaPage.as_view(url_name="schema"),
        name="api-docs",
    ),
    path("favicon.ico", RedirectView.as_view(url=static("web/icon.svg"))),
    re_path("^api/", problems.not_found),
    # The sign-in page limits the attempts; the page of the admin site does not.
    path("admin/login/", RedirectView.as_view(url="/sign-in/", query_string=True)),
    path("admin/", admin.site.urls),
    *public_log.urlpatterns,
    path("", include(web)),
]
handler400 = problems.bad_request
handler403 = problems.forbidden
handler404 = problems.not_found
handler500 = problems.server_error
