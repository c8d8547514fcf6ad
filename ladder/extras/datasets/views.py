"""The routes of the datasets: which there are, their manifests, their files."""

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ladder.common.ranges import file_response
from ladder.extras.datasets import published

DAY = OpenApiParameter("day", OpenApiTypes.STR, "path")
NAME = OpenApiParameter("name", OpenApiTypes.STR, "path")


class DatasetListSerializer(serializers.Serializer[dict[str, list[str]]]):
    days = serializers.ListField(child=serializers.CharField())


class DatasetList(APIView):
    """The days of which there is a dataset, newest first."""

    @extend_schema(operation_id="datasets_list", responses=DatasetListSerializer)
    def get(self, _request: Request) -> Response:
        return Response({"days": published.days()})


class DatasetManifest(APIView):
    """The tables of a dataset, with their columns, rows, files and checksums."""

    @extend_schema(parameters=[DAY], responses=OpenApiTypes.OBJECT)
    def get(self, _request: Request, day: str) -> Response:
        return Response(published.manifest(day))


class DatasetFile(APIView):
    """A file of a dataset, or a part of it with the header `Range`."""

    @extend_schema(
        operation_id="datasets_file",
        parameters=[DAY, NAME],
        responses=OpenApiTypes.BINARY,
    )
    def get(self, request: Request, day: str, name: str) -> HttpResponseBase:
        path, digest = published.file_of(day, name)
        return file_response(request, path, digest)
