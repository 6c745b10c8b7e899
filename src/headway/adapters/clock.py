"""The system's clock and source of randomness: the only place that reads either."""

import secrets
import time


class SystemClock:
    """The time of day as this machine has it."""

    def now_ms(self) -> int:
        """Return milliseconds since 1970 UTC."""
        return time.time_ns() // 1_000_000


class SystemEntropy:
    """The operating system's randomness."""

    def draw(self, count: int) -> bytes:
        """Return `count` unpredictable bytes."""
        return secrets.token_bytes(count)
