"""Time and chance under a test's control."""

import random


class FakeClock:
    """Ticks by rule: each look is `step_ms` later than the one before."""

    def __init__(self, start_ms: int = 1_700_000_000_000, step_ms: int = 1) -> None:
        self.next_ms = start_ms
        self.step_ms = step_ms

    def now_ms(self) -> int:
        now = self.next_ms
        self.next_ms += self.step_ms
        return now


class FakeEntropy:
    """Draws the same bytes for the same seed."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)  # noqa: S311  fake by intent

    def draw(self, count: int) -> bytes:
        return self._random.randbytes(count)
