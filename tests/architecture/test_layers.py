"""The table of who may import whom, held against every import in the package."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "unmask"

LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"errors", "plugins"}),
    frozenset({"model"}),
    frozenset({"cpu", "connect"}),
    frozenset({"crypto"}),
    frozenset({"dialects"}),
    frozenset({"probes"}),
    frozenset({"measure", "rules", "workloads"}),
    frozenset({"config", "sources", "engine", "report", "lab"}),
    frozenset({"visits"}),
    frozenset({"benches", "fixes"}),
    frozenset({"checks"}),
    frozenset({"cli"}),
    frozenset({"__main__"}),
)
"""From the bottom up; a package imports from lines below its own only, and from itself."""

PURE = (
    "model", "cpu", "crypto", "dialects", "measure", "probes", "rules", "workloads", "report",
)  # fmt: skip
INPUT_OUTPUT = frozenset(
    {"asyncio", "http", "os", "requests", "select", "shutil", "socket", "subprocess", "tempfile"}
)
CLIENTS = {
    "libvirt": "connect/libvirt_client.py",
    "libvirt_qemu": "connect/libvirt_client.py",
    "paramiko": "connect/ssh.py",
    "proxmoxer": "connect/proxmox.py",
}

MODULES = sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Yield the dotted name of everything that a module imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def package_of(path: Path) -> str:
    """Return the top-level part of unmask that a module belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def rank(package: str) -> int:
    """Return the line of the table that a package stands on."""
    return next(index for index, names in enumerate(LAYERS) if package in names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downwards(path: Path) -> None:
    package = package_of(path)
    if package == "__init__":
        return
    for name in imports(path):
        parts = name.split(".")
        if parts[0] != "unmask" or len(parts) < 2 or not _is_part(parts[1]):
            continue
        target = parts[1]
        allowed = target == package or rank(target) < rank(package)
        assert allowed, f"{path.relative_to(ROOT)} ({package}) imports {name}"


def _is_part(name: str) -> bool:
    return (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if package_of(path) in PURE],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_pure_packages_do_no_input_or_output(path: Path) -> None:
    used = {name.split(".")[0] for name in imports(path)}
    assert not used & INPUT_OUTPUT, f"{path.relative_to(ROOT)} imports {used & INPUT_OUTPUT}"
    assert not any(name.startswith("unmask.connect") for name in imports(path))
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not calls & {"open", "print", "input"}, f"{path.relative_to(ROOT)} calls {calls}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_each_client_has_one_home(path: Path) -> None:
    for name in imports(path):
        home = CLIENTS.get(name.split(".")[0])
        assert home in (None, str(path.relative_to(PACKAGE))), f"{path} imports {name}"


def test_every_package_stands_in_the_table() -> None:
    parts = {package_of(path) for path in MODULES} - {"__init__"}
    assert parts == set().union(*LAYERS)
