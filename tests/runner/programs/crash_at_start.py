"""Exits with an error before it reads anything."""

import sys

sys.exit("no reason")
