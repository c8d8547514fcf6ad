"""The tokens with which programs and people sign in."""

from django.conf import settings
from django.db import models


class ApiToken(models.Model):
    """A bearer token. Its text is shown once, and only its SHA-256 is stored."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="tokens"
    )
    name = models.CharField(max_length=64, default="default")
    prefix = models.CharField(max_length=12, help_text="To tell tokens apart.")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "API token"

    def __str__(self) -> str:
        return f"{self.prefix}… of {self.user}"
