"""Fails in its first import."""

import no_such_module  # noqa: F401
