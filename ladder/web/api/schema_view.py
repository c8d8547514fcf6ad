"""The views of the OpenAPI document.

They are not in `schema`, because drf_spectacular's views import that module.
"""

from functools import partial
from typing import Any, ClassVar

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response


class SchemaView(SpectacularAPIView):
    """The OpenAPI document. It has no parameters.

    The base class would copy the parameter `version` into a header of the response. It
    also makes the document anew for each request, which takes half a second of CPU.
    """

    _rendered: ClassVar[dict[str, tuple[bytes, dict[str, str]]]] = {}
    """The content and the headers of the response, by the media type."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if unknown := sorted(request.query_params):
            detail = "Unknown parameter. This address has none."
            raise ValidationError(dict.fromkeys(unknown, detail))
        media_type = request.accepted_renderer.media_type
        if media_type in self._rendered:
            content, headers = self._rendered[media_type]
            return HttpResponse(content, headers=headers)
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        response.add_post_render_callback(partial(self._keep, media_type))
        return response

    def _keep(self, media_type: str, response: Response) -> None:
        names = ("Content-Type", "Content-Disposition")
        headers = {name: response[name] for name in names if name in response}
        self._rendered[media_type] = response.content, headers


class SchemaPage(SpectacularSwaggerSplitView):
    """The page that shows the document. It has no template for OPTIONS."""

    http_method_names = ["get", "head"]
