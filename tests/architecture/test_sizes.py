"""Small files, small functions, and nothing in a package's __init__ but its docstring."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
OTHERS = sorted(
    path for folder in ("tests", "tools", "benchmarks") for path in (ROOT / folder).rglob("*.py")
)
LINES = 300
STATEMENTS = 30
VAGUE = frozenset({"utils", "util", "helpers", "helper", "common", "base", "misc", "tools"})


def name(path: Path) -> str:
    """Return a path as a test id."""
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES + OTHERS, ids=name)
def test_no_file_is_long(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_no_function_is_long(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            count = sum(isinstance(child, ast.stmt) for child in ast.walk(node)) - 1
            assert count <= STATEMENTS, f"{name(path)}:{node.lineno} {node.name}"


@pytest.mark.parametrize("path", SOURCES + OTHERS, ids=name)
def test_a_module_is_named_after_what_is_in_it(path: Path) -> None:
    assert path.stem.lstrip("_") not in VAGUE


@pytest.mark.parametrize("path", [p for p in SOURCES if p.name == "__init__.py"], ids=name)
def test_an_init_holds_its_docstring_only(path: Path) -> None:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    rest = body[1:]
    if path.parent.name == "unmask":
        rest = [node for node in rest if not isinstance(node, ast.Assign)]  # __version__
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert not rest
