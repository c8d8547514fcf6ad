"""Uploads in an object store that speaks the protocol of S3, instead of in a folder.

The keys come from the same places as in every program of AWS: AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY, a profile, or the role of the machine.
"""

import re
from importlib.util import find_spec
from urllib.parse import parse_qsl, urlsplit

from django.core.files.storage import Storage

BACKEND = "storages.backends.s3.S3Storage"
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
PARAMETERS = ("endpoint", "region")
EXAMPLE = "s3://BUCKET/PREFIX?endpoint=https://s3.example.org&region=eu-1"
# Larger files are read through a temporary file.
MAX_MEMORY_BYTES = 4 << 20
CONNECT_TIMEOUT_S = 5
READ_TIMEOUT_S = 30
ATTEMPTS = 3


def storage_settings(url: str) -> dict[str, object]:
    """Return Django's settings of the storage with a URL such as EXAMPLE.

    Raises ValueError with what is wrong, without the URL, which may contain a secret.
    """
    try:
        parts = urlsplit(url)
        parameters = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
        endpoint = urlsplit(parameters.get("endpoint", "https://default"))
    except ValueError:
        raise ValueError(f"cannot be read. Write {EXAMPLE}") from None
    if parts.scheme != "s3" or not BUCKET.fullmatch(parts.netloc):
        raise ValueError(f"is not the URL of a bucket. Write {EXAMPLE}")
    if unknown := parameters.keys() - set(PARAMETERS):
        raise ValueError(f"has the unknown parameter {min(unknown)[:40]!r}. Correct it")
    if endpoint.scheme not in ("http", "https") or not endpoint.hostname:
        raise ValueError(
            "has an endpoint that is no address of HTTP or HTTPS. Correct it"
        )
    if find_spec("storages") is None or find_spec("boto3") is None:
        raise ValueError("needs a package. Install it: pip install 'torres-ladder[s3]'")
    return {
        "BACKEND": BACKEND,
        "OPTIONS": _options(parts.netloc, parts.path, parameters),
    }


def _options(bucket: str, prefix: str, parameters: dict[str, str]) -> dict[str, object]:
    # Imported here, because a service with a folder does not need the package.
    from botocore.config import Config  # noqa: PLC0415

    return {
        "bucket_name": bucket,
        "location": prefix.strip("/"),
        "endpoint_url": parameters.get("endpoint"),
        "region_name": parameters.get("region"),
        "max_memory_size": MAX_MEMORY_BYTES,
        # By default a request waits for five minutes if the store is away.
        "client_config": Config(
            connect_timeout=CONNECT_TIMEOUT_S,
            read_timeout=READ_TIMEOUT_S,
            retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
            signature_version="s3v4",
            # Other stores than that of AWS have no host name for each bucket.
            s3={"addressing_style": "path" if "endpoint" in parameters else "auto"},
        ),
    }


def problem_of(storage: Storage) -> str:
    """Return why the bucket of a storage cannot be used; "" if it can."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    try:
        client = storage.connection.meta.client  # type: ignore[attr-defined]
        client.head_bucket(Bucket=storage.bucket_name)  # type: ignore[attr-defined]
    except (BotoCoreError, ClientError) as error:
        return str(error)
    return ""
