"""What the kernel asks of Cython where that is not installed: nothing is compiled."""


# It stands for the module of that name, where that is missing.
class cython:  # noqa: N801  # pragma: no cover - depends on what is installed
    compiled = False
