"""The texts of scripts in one language, as a script that the others find."""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import translation
from django.views.i18n import JavaScriptCatalog


class ScriptTexts(JavaScriptCatalog):
    """The language is a part of the address, so that caches keep languages apart."""

    packages = ["ladder.web"]

    def get(
        self, request: HttpRequest, *args: Any, language: str = "", **kwargs: Any
    ) -> HttpResponse:
        if language not in dict(settings.LANGUAGES):
            raise Http404("there is no such language")
        with translation.override(language):
            response: HttpResponse = super().get(request, *args, **kwargs)
        response["Cache-Control"] = "public, max-age=3600"
        return response
