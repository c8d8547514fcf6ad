"""The type of JSON that is read, passed on or written as a whole."""

from typing import Any

JsonObject = dict[str, Any]
