from django.urls import path

from ladder.accounts import views

urlpatterns = [
    path("me/", views.CurrentUser.as_view(), name="current-user"),
]
