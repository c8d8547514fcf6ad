"""The views of the OpenAPI document.

They are not in `schema`, because drf_spectacular's views import that module.
"""

from typing import Any

from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response


class SchemaView(SpectacularAPIView):
    """The OpenAPI document. It has no parameters.

    The base class would copy the parameter `version` into a header of the response.
    """

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        if unknown := sorted(request.query_params):
            detail = "Unknown parameter. This address has none."
            raise ValidationError(dict.fromkeys(unknown, detail))
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        return response


class SchemaPage(SpectacularSwaggerSplitView):
    """The page that shows the document. It has no template for OPTIONS."""

    http_method_names = ["get", "head"]
