"""Texts of strangers that any database can store."""

from typing import Any, TypeVar

T = TypeVar("T", str, list[Any], dict[str, Any])


def storable(value: T) -> T:
    """Replace what PostgreSQL refuses in texts of bots: NUL and lone surrogates."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    if isinstance(value, list):
        return [storable(item) for item in value]
    if isinstance(value, dict):
        return {storable(name): storable(item) for name, item in value.items()}
    return value
