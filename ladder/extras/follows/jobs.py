"""The job that sends daily mails. It waits for a mail server of others."""

from ladder.common.jobs import Job
from ladder.extras.follows import daily_mail

DAILY_MAIL = Job(
    "daily_mail",
    lambda: daily_mail.due().exists(),
    daily_mail.send_due,
    check_interval_s=60.0,
    independent=True,
    longest_s=3600.0,
)
