"""The store's file deleted, moved or replaced while it is open: no write is acknowledged then."""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headway.adapters.storage.sqlite import open_sqlite
from headway.adapters.storage.store import Store
from headway.domain.errors import Fault, StoreUnavailable
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.writes import STREAM, a_row, a_session, a_write


def opened(path: Path) -> Store:
    return open_sqlite(path, FakeClock(), FakeEntropy())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "headway.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    made = opened(path)
    made.ledger.append(a_write(0))
    yield made
    made.close()


def deleted(path: Path) -> None:
    path.unlink()


def moved(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def replaced(path: Path) -> None:
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    copy.replace(path)


def with_its_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


@pytest.mark.parametrize("harm", [deleted, moved, replaced, with_its_folder])
def test_a_write_to_a_file_that_went_is_refused_with_the_remedy(
    store: Store, path: Path, harm: Callable[[Path], None]
) -> None:
    harm(path)
    writes: list[Callable[[], object]] = [
        lambda: store.ledger.append(a_write(1)),
        lambda: store.ledger.mint(a_row(1)),
        store.keyring.rotate,
        lambda: store.sources.attach("/flows"),
    ]
    for write in writes:
        with pytest.raises(StoreUnavailable, match="deleted or replaced") as caught:
            write()
        assert "restart Headway" in caught.value.remedy
        assert caught.value.retry_after_ms is None
    assert len(store.ledger.scan(STREAM)) == 1


def test_writes_that_come_at_once_are_all_refused(store: Store, path: Path) -> None:
    deleted(path)

    def write(number: int) -> bool:
        try:
            store.ledger.append(a_write(0, session=a_session(number)))
        except StoreUnavailable:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert not any(pool.map(write, range(1, 25)))


def test_no_empty_store_is_made_in_the_place_of_one_that_went(store: Store, path: Path) -> None:
    deleted(path)
    refused = 0

    def read(_: int) -> None:  # some need a connection more
        nonlocal refused
        try:
            assert len(store.ledger.scan(STREAM)) == 1
        except Fault:
            refused += 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(read, range(40)))
    assert not path.exists()


def test_a_file_that_was_put_back_is_written_again(store: Store, path: Path) -> None:
    moved(path)
    with pytest.raises(StoreUnavailable):
        store.ledger.append(a_write(1))
    path.with_name("elsewhere.db").rename(path)
    store.ledger.append(a_write(1))
    store.close()
    again = opened(path)
    assert len(again.ledger.scan(STREAM)) == 2
    again.close()


def test_a_store_behind_a_link_is_made_and_written(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    link = tmp_path / "headway.db"
    link.symlink_to(tmp_path / "disk" / "real.db")
    for version in range(2):
        store = opened(link)
        store.ledger.append(a_write(version))
        store.close()
    assert (tmp_path / "disk" / "real.db").stat().st_mode & 0o777 == 0o600
