"""`headway up` with little patience: seconds stand for the minutes that it gives a client."""

import pytest

from headway.__main__ import main
from headway.web import serving, wire

SECONDS = 2

if __name__ == "__main__":
    hurry = pytest.MonkeyPatch()
    hurry.setattr(wire, "REQUEST_SECONDS_MAX", float(SECONDS))
    hurry.setattr(serving, "KEEP_ALIVE_SECONDS", SECONDS)
    main()
