from concurrent.futures import ThreadPoolExecutor

from headway.adapters.storage.store import Store


def test_the_first_call_draws_the_first_key(store: Store) -> None:
    keys = store.keyring.keys()
    assert len(keys.current) == 32
    assert keys.previous is None
    assert store.keyring.keys() == keys


def test_a_rotation_keeps_the_old_key_as_previous(store: Store) -> None:
    first = store.keyring.keys()
    second = store.keyring.rotate()
    assert second.previous == first.current
    assert second.current != first.current
    assert store.keyring.keys() == second
    third = store.keyring.rotate()
    assert third.previous == second.current


def test_a_rotation_of_a_new_store_has_no_previous_key(store: Store) -> None:
    assert store.keyring.rotate().previous is None


def test_threads_that_ask_first_get_the_same_key(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert (
            len({done.current for done in pool.map(lambda _: store.keyring.keys(), range(8))}) == 1
        )
