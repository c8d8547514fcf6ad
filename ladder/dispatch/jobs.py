"""The jobs of all apps, which the dispatcher runs in processes beside it."""

from ladder.extras.analysis.jobs import ANALYSE_GAMES
from ladder.extras.anomalies.jobs import ANOMALIES
from ladder.extras.datasets.jobs import DATASET
from ladder.extras.follows.jobs import DAILY_MAIL
from ladder.extras.self_audit.jobs import SELF_AUDIT
from ladder.extras.webhooks.jobs import SEND_WEBHOOKS
from ladder.ratings.jobs import FOLD_VOIDS, SECOND_OPINION

JOBS = (
    FOLD_VOIDS,
    SECOND_OPINION,
    ANALYSE_GAMES,
    ANOMALIES,
    DATASET,
    SELF_AUDIT,
    SEND_WEBHOOKS,
    DAILY_MAIL,
)
