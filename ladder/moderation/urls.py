"""The routes of the REST API for the audit log and workers, below /api/v1/."""

from django.urls import path

from ladder.moderation import views

urlpatterns = [
    path("audit/", views.AuditLog.as_view(), name="audit"),
    path("operate/workers/", views.WorkerList.as_view(), name="operate-workers"),
]
