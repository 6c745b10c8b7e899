import pytest

from headway.adapters.storage.store import Store
from headway.domain.errors import InvalidInput


def test_folders_stand_in_the_order_they_were_attached(store: Store) -> None:
    for path in ("/b", "/a", "/ü \U0001f600"):
        store.sources.attach(path)
    assert store.sources.attached() == ("/b", "/a", "/ü \U0001f600")


def test_attaching_twice_changes_nothing(store: Store) -> None:
    for path in ("/b", "/a", "/b"):
        store.sources.attach(path)
    assert store.sources.attached() == ("/b", "/a")


def test_a_detached_folder_is_gone_and_comes_last_when_attached_again(store: Store) -> None:
    for path in ("/b", "/a"):
        store.sources.attach(path)
    store.sources.detach("/b")
    store.sources.detach("/unknown")
    assert store.sources.attached() == ("/a",)
    store.sources.attach("/b")
    assert store.sources.attached() == ("/a", "/b")


def test_a_path_that_is_no_text_is_refused(store: Store) -> None:
    with pytest.raises(InvalidInput):
        store.sources.attach("/\udcff")
    with pytest.raises(InvalidInput):
        store.sources.detach("/\udcff")
