"""Checks the address of the collector to which traces are sent.

The SDK of OpenTelemetry reads its variables itself. With a wrong address, or without
the packages, a service would send no traces and not say why.
"""

from importlib.util import find_spec
from urllib.parse import urlsplit

PACKAGES = ("opentelemetry", "opentelemetry.sdk", "opentelemetry.exporter.otlp.proto")


def mistake(endpoint: str) -> str:
    """Return why no traces can be sent to the address of a collector; "" if they can.

    The answer does not contain the address, which may hold a password.
    """
    try:
        parts = urlsplit(endpoint)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_address = False
    if not is_address:
        return "is no address of HTTP. Write one such as http://127.0.0.1:4318"
    if not _is_installed():
        return "needs packages. Install them: pip install 'torres-ladder[otel]'"
    return ""


def _is_installed() -> bool:
    try:
        return all(find_spec(name) is not None for name in PACKAGES)
    except ModuleNotFoundError:  # a package that contains another one is missing
        return False
