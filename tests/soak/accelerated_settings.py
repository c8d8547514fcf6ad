"""The settings of the service, for `test_growth`: sessions end after seconds."""

import os

from ladder.settings import *  # noqa: F403

SESSION_COOKIE_AGE = int(os.environ["TESTS_SOAK_SESSION_S"])
