"""The routes of the REST API for the audit log, below /api/v1/."""

from django.urls import path

from ladder.moderation import views

urlpatterns = [path("audit/", views.AuditLog.as_view(), name="audit")]
