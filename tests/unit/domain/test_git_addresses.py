"""Which addresses are handed to git, and which it never sees."""

import pytest

from headway.domain.errors import InvalidInput
from headway.domain.git_addresses import (
    checked_address,
    checked_path,
    checked_ref,
    id_for,
    is_inside,
    protocol_of,
)


@pytest.mark.parametrize(
    ("address", "protocol"),
    [
        ("https://git.example/team/flows.git", "https"),
        ("https://git.example:8443/~me/flows", "https"),
        ("ssh://git@git.example:22/team/flows.git", "ssh"),
        ("git@git.example:team/flows.git", "ssh"),
        ("git.example:flows", "ssh"),
        ("/srv/git/team flows.git", "file"),
    ],
)
def test_plain_addresses_are_taken_with_one_protocol(address: str, protocol: str) -> None:
    assert checked_address(address) == address
    assert protocol_of(address) == protocol


@pytest.mark.parametrize(
    "address",
    [
        "",
        "-u/tmp/x",
        "--upload-pack=touch /tmp/x",
        "ext::sh -c x",
        "ssh::x",
        "fd::17",
        "a::b:c",
        "file:///srv/x.git",
        "FILE:///srv/x.git",
        "http://git.example/x",
        "git://git.example/x",
        "ftp://git.example/x",
        "https://me@git.example/x",
        "https://me:secret@git.example/x",
        "https://git.example/x?token=secret",
        "https://git.example/x#y",
        "https://-oProxyCommand=x/y",
        "ssh://me:secret@git.example/x",
        "ssh://-oProxyCommand=x/y",
        "ssh://git@-oProxyCommand=x/y",
        "-oProxyCommand=x:y",
        "git@-oProxyCommand=x:y",
        "git.example:-x",
        "relative/path",
        "./relative",
        "https://git.example/x\ny",
        "/srv/x\0y",
        "/srv/x\ud800",
        "git.example://x/y",
        "https://" + "a" * 3_000 + "/x",
    ],
)
def test_all_else_is_refused_without_repeating_it(address: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        checked_address(address)
    told = caught.value.message + caught.value.remedy
    assert "secret" not in told
    assert caught.value.remedy


def test_refs_and_paths_stay_what_they_are() -> None:
    assert [checked_ref(each) for each in ("", "main", "v1.2", "feature/a_b")] == [
        "",
        "main",
        "v1.2",
        "feature/a_b",
    ]
    assert [checked_path(each) for each in ("", "a", "a/b/", "ä b")] == ["", "a", "a/b", "ä b"]
    for ref in ("-x", "a..b", "a b", "a@{1}", "x:y", "^a", "+a", "a" * 300, "a\n"):
        with pytest.raises(InvalidInput):
            checked_ref(ref)
    for path in ("/a", "..", "a/../b", "a//b", ".git", "a/.GIT/b", "a\\b", "a\nb", "\ud800"):
        with pytest.raises(InvalidInput):
            checked_path(path)


def test_a_name_that_cannot_be_written_is_not_inside() -> None:
    assert is_inside("a/b.json")
    assert not is_inside("a" * 300)
    assert not is_inside("\udcff.json")


def test_ids_come_from_names_and_are_never_taken_twice() -> None:
    assert id_for("https://git.example/team/My Flows.git", frozenset()) == "my-flows"
    assert id_for("git@git.example:flows.git", frozenset({"flows"})) == "flows-2"
    assert id_for("/srv/flows/", frozenset({"flows", "flows-2"})) == "flows-3"
    assert id_for("/", frozenset()) == "source"
