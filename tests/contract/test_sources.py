import msgspec
import pytest

from headway.adapters.storage.store import Store
from headway.domain.errors import InvalidInput
from headway.ports.sources import GitSource


def test_folders_stand_in_the_order_they_were_attached(store: Store) -> None:
    for path in ("/b", "/a", "/ü \U0001f600"):
        store.sources.attach(path)
    assert store.sources.attached().rows == ("/b", "/a", "/ü \U0001f600")


def test_attaching_twice_changes_nothing(store: Store) -> None:
    for path in ("/b", "/a", "/b"):
        store.sources.attach(path)
    assert store.sources.attached().rows == ("/b", "/a")


def test_a_detached_folder_is_gone_and_comes_last_when_attached_again(store: Store) -> None:
    for path in ("/b", "/a"):
        store.sources.attach(path)
    store.sources.detach("/b")
    store.sources.detach("/unknown")
    assert store.sources.attached().rows == ("/a",)
    store.sources.attach("/b")
    assert store.sources.attached().rows == ("/a", "/b")


def test_a_path_that_is_no_text_is_refused(store: Store) -> None:
    with pytest.raises(InvalidInput):
        store.sources.attach("/\udcff")
    with pytest.raises(InvalidInput):
        store.sources.detach("/\udcff")


def a_git_source(name: str, commit: str = "0" * 40) -> GitSource:
    return GitSource(id=name, url=f"https://git.example/{name}", ref="", path="", commit=commit)


def test_git_sources_stand_in_the_order_they_came_and_a_pin_can_be_moved(store: Store) -> None:
    for name in ("b", "a"):
        store.sources.pin(a_git_source(name))
    store.sources.pin(a_git_source("b", "1" * 40))
    assert store.sources.git_sources().rows == (a_git_source("b", "1" * 40), a_git_source("a"))
    assert store.sources.attached().rows == ()


def test_a_dropped_git_source_is_gone(store: Store) -> None:
    for name in ("b", "a"):
        store.sources.pin(a_git_source(name))
    store.sources.drop("b")
    store.sources.drop("unknown")
    assert store.sources.git_sources().rows == (a_git_source("a"),)


def test_what_is_no_text_is_not_pinned(store: Store) -> None:
    with pytest.raises(InvalidInput):
        store.sources.pin(msgspec.structs.replace(a_git_source("a"), url="/\udcff"))
    assert store.sources.git_sources().rows == ()
