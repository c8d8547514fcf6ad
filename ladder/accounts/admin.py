"""The admin pages of tokens and invitations."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.http import HttpRequest

from ladder.accounts import invitations, scopes
from ladder.accounts.models import ApiToken, Invitation
from ladder.accounts.sessions import is_by_token
from ladder.common.admin import ReadOnly


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnly):
    """Shows tokens and revokes them. `manage.py token` and owners create them."""

    list_display = (
        "prefix",
        "user",
        "name",
        "permits",
        "created_at",
        "expires_at",
        "last_used_at",
    )
    list_filter = ("created_at", ("expires_at", admin.EmptyFieldListFilter))
    search_fields = ("user__username", "prefix", "name")
    list_select_related = ("user",)
    exclude = ("digest",)

    @admin.display(description="Permits", ordering="scopes")
    def permits(self, token: ApiToken) -> str:
        return ", ".join(scopes.names(token.scopes))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [f for f in super().get_readonly_fields(request, obj) if f != "digest"]


class InvitationForm(forms.ModelForm[Invitation]):
    """Describes a new invitation."""

    max_uses = forms.IntegerField(
        min_value=1, max_value=invitations.MAX_USES, initial=1, label="People"
    )
    days = forms.IntegerField(
        min_value=1,
        max_value=invitations.MAX_DAYS,
        initial=invitations.DEFAULT_DAYS,
        label="Days until it expires",
    )

    class Meta:
        model = Invitation
        fields = ("note", "max_uses", "days")


@admin.register(Invitation)
class InvitationAdmin(ReadOnly):
    """Creates invitations, shows them, and revokes them by deletion.

    A session by token creates none, because they would outlive the token.
    """

    list_display = (
        "prefix",
        "note",
        "created_by",
        "used",
        "max_uses",
        "created_at",
        "expires_at",
    )
    list_filter = ("created_at", "expires_at")
    search_fields = ("prefix", "note", "created_by__username")
    list_select_related = ("created_by",)
    form = InvitationForm

    def has_add_permission(self, request: HttpRequest) -> bool:
        permitted = admin.ModelAdmin.has_add_permission(self, request)
        return permitted and not is_by_token(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return list(InvitationForm.Meta.fields)
        return self.get_readonly_fields(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        if obj is None:
            return []
        return [f for f in super().get_readonly_fields(request, obj) if f != "digest"]

    def save_model(
        self,
        request: HttpRequest,
        obj: Invitation,
        form: Any,
        change: bool,  # noqa: FBT001 - the signature of Django
    ) -> None:
        by = request.user if isinstance(request.user, User) else None
        fields = form.cleaned_data
        code, created = invitations.new_invitation(
            by, uses=fields["max_uses"], days=fields["days"], note=fields["note"]
        )
        # Django goes on with `obj`, for example to log the addition.
        obj.pk = created.pk
        obj.prefix = created.prefix
        self.message_user(
            request,
            f"The code is shown only once, so copy it now: {code}",
            messages.WARNING,
        )
