"""Leaves without a word, politely."""

import sys

sys.exit(0)
