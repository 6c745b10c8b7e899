"""The import contract names every room there is, and no package comes in unannounced."""

import ast
import configparser
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOUSE = ROOT / "src" / "headway"

# Third parties without I/O, clock or chance. `referencing` tells jsonschema to fetch nothing.
DOMAIN_MAY_USE = {"jsonschema", "msgspec", "re2", "referencing", "rfc8785", "yaml"}


def names_in(folder: Path) -> set[str]:
    """Return the modules and packages right inside a folder."""
    packages = {p.parent.name for p in folder.glob("*/__init__.py")}
    return packages | {p.stem for p in folder.glob("*.py") if p.stem != "__init__"}


def contract(name: str) -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / ".importlinter", "utf-8")
    return parser[f"importlinter:contract:{name}"]


def third_parties(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield every import of a top-level module that is neither the standard library's nor ours."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Import(names=names):
                    imported = [alias.name for alias in names]
                case ast.ImportFrom(module=str(module), level=0):
                    imported = [module]
                case _:
                    imported = []
            for top in {name.partition(".")[0] for name in imported}:
                if top != "headway" and top not in sys.stdlib_module_names:
                    yield path, top


def declared_packages() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    names = (re.match(r"[\w.-]+", requirement) for group in groups for requirement in group)
    return {normal(found[0]) for found in names if found}


def normal(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def test_every_room_has_its_place_in_the_order() -> None:
    placed = set(re.findall(r"\w+", contract("rooms")["layers"]))
    assert placed == names_in(HOUSE)


def test_every_adapter_family_is_kept_from_the_others() -> None:
    families = {p.parent.name for p in (HOUSE / "adapters").glob("*/__init__.py")}
    kept_apart = re.findall(r"headway\.adapters\.(\w+)", contract("families")["modules"])
    assert set(kept_apart) == families


def test_the_domain_uses_only_pure_third_parties() -> None:
    strangers = [
        f"{path.relative_to(ROOT)} imports {top}"
        for path, top in third_parties(HOUSE / "domain")
        if top not in DOMAIN_MAY_USE
    ]
    assert not strangers


def test_every_package_that_is_imported_is_declared() -> None:
    declared = declared_packages()
    owners = packages_distributions()
    missing = [
        f"{path.relative_to(ROOT)} imports {top}"
        for path, top in third_parties(HOUSE)
        if not declared & {normal(owner) for owner in owners.get(top, [top])}
    ]
    assert not missing
