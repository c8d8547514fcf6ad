"""A stand-in for the module `cython`, used if Cython is not installed."""


# The name is that of the missing module. Without Cython nothing is compiled.
class cython:  # noqa: N801  # pragma: no cover - depends on what is installed
    compiled = False
