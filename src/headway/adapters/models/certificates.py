"""Whom to trust on the line: read once, since a client is made for every reply."""

import ssl
from functools import cache

import httpx2


@cache
def trusted() -> ssl.SSLContext:
    """Return the context of the authorities that HTTP clients trust, or of SSL_CERT_FILE's."""
    return httpx2.create_ssl_context()
