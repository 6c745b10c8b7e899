"""A cache bounded by the bytes it stands for, dropping what was used longest ago."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class ByteCache(Generic[K, V]):
    """Keeps values that never change, up to `bytes_max` in all. Threads may share it."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return the value of a key, if it is still kept."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def take(self, key: K) -> V | None:
        """Return the value of a key, if it is still kept, and keep it no longer."""
        with self._lock:
            found = self._kept.pop(key, None)
            if found is None:
                return None
            self._bytes -= found[1]
            return found[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value that takes `size` bytes; one larger than the whole cache is not kept."""
        if size > self._bytes_max:
            return
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = (value, size)
            self._bytes += size
            while self._bytes > self._bytes_max:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._bytes -= dropped
