"""What AWS's own settings say, read by its own library: profiles, files, roles of machines."""

import boto3
from botocore.exceptions import BotoCoreError


def region_of(profile: str | None) -> str | None:
    """Return the region that a profile names, or None."""
    try:
        region = boto3.Session(profile_name=profile).region_name
    except BotoCoreError:  # told by `credentials_missing`, in words
        return None
    return str(region) if region else None


def credentials_missing(profile: str | None) -> str | None:
    """Say why there are no credentials; None where there are some, good or expired."""
    try:
        found = boto3.Session(profile_name=profile).get_credentials()
    except BotoCoreError as error:
        return f"AWS has no credentials: {error}".rstrip(".")
    return None if found is not None else "AWS has no credentials"
