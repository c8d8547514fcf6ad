"""Dies before it has read a word."""

import sys

sys.exit("no reason")
