"""Does not even begin."""

import no_such_module  # noqa: F401
