"""The house plan, enforced: who may import whom, what an import loads, how long things are."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import keizerframe

PACKAGE = Path(keizerframe.__file__).parent
#: Module -> the project's modules it may import.
ALLOWED = {
    "errors": set(),
    "results": {"errors"},
    "fields": set(),
    "awards": {"fields", "results", "rules"},
    "contradictions": {"errors", "rules"},
    "voice": {"errors"},
    "wording": {"rules", "voice"},
    "rules": {"errors", "results", "fields", "awards", "contradictions", "wording"},
    "catalog": {"errors", "rules"},
    "tariffs": {"awards", "errors", "results", "rules", "kernel"},
    "columns": set(),
    "intake": {"columns", "errors", "results", "kernel.grid"},
    "season": {"intake", "columns", "errors", "results", "rules", "kernel.grid"},
    "kernel.grid": set(),
    "kernel.points": set(),
    "kernel.contraction": {"kernel.grid", "kernel.points", "kernel.tables"},
    "kernel.tables": set(),
    "kernel.tally": {"kernel.contraction", "kernel.tables"},
    "kernel.recalculate": {"kernel.points", "kernel.contraction", "kernel.tables", "kernel.tally"},
    "kernel.recurrence": {"kernel.grid", "kernel.contraction", "kernel.points", "kernel.tables", "kernel.tally"},
    "standings": {"columns", "kernel.points"},
    "entries": {"season", "rules", "results", "errors", "standings", "tariffs", "kernel"},
    "scoring": {"entries", "season", "catalog", "rules", "errors", "standings", "tariffs", "kernel"},
    "revaluation": set(),
    "ledger": {
        "entries",
        "catalog",
        "columns",
        "errors",
        "kernel",
        "results",
        "revaluation",
        "rules",
        "scoring",
        "season",
    },
    "telling": {"revaluation", "voice"},
    "diagnosis": {"entries", "catalog", "errors", "kernel", "rules", "scoring", "season", "standings"},
    "alternatives": {"entries", "catalog", "columns", "errors", "kernel", "results", "rules", "scoring", "season"},
    "comparison": {"diagnosis", "scoring", "season", "catalog", "rules", "errors", "voice"},
    "variants": {"contradictions", "errors", "rules"},
    "published": {"columns", "errors"},
    "thresholds": {"awards", "errors", "results", "rules", "scoring", "season", "tariffs", "variants"},
    "sweeps": {"awards", "catalog", "errors", "fields", "rules", "season", "thresholds", "variants"},
    "identification": {"catalog", "entries", "errors", "io", "kernel", "published", "rules", "scoring", "season"}
    | {"tariffs", "variants"},
    "io": {"season", "columns", "errors", "standings", "awards", "catalog", "fields", "rules"},
    "pairing": set(),
    "pairing.options": set(),
    "pairing.history": {"results", "season"},
    "pairing.matching": set(),
    "pairing.top_down": {"pairing.history"},
    "pairing.wishes": {"columns", "errors", "results", "pairing.options"},
    "pairing.sheet": {"pairing.history", "pairing.options"},
    "pairing.keizer": {"rules", "scoring", "season", "catalog", "errors", "pairing"},
    "pairing.round_robin": {"columns", "errors", "results"},
    "datasets": {"io", "season", "errors"},
    "cli.shell": {"errors", "io", "season"},
    "cli.tables": {"catalog", "cli.shell", "comparison", "errors", "io", "scoring"},
    "__main__": {"cli"},
    "cli.questions": {
        "season",
        "alternatives",
        "catalog",
        "cli.shell",
        "diagnosis",
        "errors",
        "identification",
        "io",
        "ledger",
    }
    | {"scoring", "sweeps", "telling"},
    "cli.batch": {"batch", "catalog", "cli.shell", "errors"},
    "cli.rounds": {"cli.shell", "io", "pairing"},
    "cli": {"cli", "errors"},
    "batch.parts": {"columns", "errors", "intake", "io", "rules", "season"},
    "batch.plan": {"batch.parts", "errors", "io", "season"},
    "batch.manifest": {"batch.parts", "columns", "errors", "io", "rules"},
    "batch.work": {
        "batch.parts",
        "batch.manifest",
        "errors",
        "io",
        "rules",
        "scoring",
        "season",
        "standings",
    },
    "batch.bar": set(),
    "batch.door": {"batch.manifest", "batch.plan", "batch.work", "batch.bar", "catalog", "errors", "io"},
    "batch": {"batch.door"},
}
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path != PACKAGE / "__init__.py"
)


def source_of(module: str) -> str:
    path = PACKAGE / module.replace(".", "/")
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")


def project_imports(module: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source_of(module))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("keizerframe."):
            found.add(node.module.removeprefix("keizerframe."))
        elif isinstance(node, ast.ImportFrom) and node.module == "keizerframe":
            found |= {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("module", MODULES)
def test_modules_import_only_what_the_plan_allows(module):
    family = next((name for name in (module, module.partition(".")[0]) if name in ALLOWED), module)
    allowed = ALLOWED.get(family, set())
    inside = module.partition(".")[0]
    strangers = {
        name
        for name in project_imports(module)
        if name not in allowed and name.partition(".")[0] not in allowed | ({inside} if inside == "io" else set())
    }
    assert strangers == set()


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith("kernel")])
def test_the_kernel_knows_numpy_and_nothing_else(module):
    roots = set()
    for node in ast.walk(ast.parse(source_of(module))):
        if isinstance(node, ast.Import):
            roots |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add((node.module or "").partition(".")[0])
    outside = {root for root in roots if root not in sys.stdlib_module_names}
    assert outside <= {"numpy", "keizerframe"}


@pytest.mark.parametrize("module", MODULES)
def test_modules_and_functions_stay_short(module):
    source = source_of(module)
    assert len(source.splitlines()) <= 510
    long = {
        node.name: node.end_lineno - node.body[0].lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.end_lineno - node.body[0].lineno > 70
    }
    assert long == {}


def test_importing_loads_nothing_of_weight():
    listing = "import keizerframe, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {"numpy", "pandas", "pyarrow"} <= loaded
    heavy = {"cyclopts", "rich", "matplotlib", "scipy", "IPython", "rustworkx", "openpyxl", "jinja2", "dask"}
    assert loaded & heavy == set()


def test_every_public_name_has_a_docstring_with_an_example():
    bare = [
        name
        for name in keizerframe.__all__
        if callable(getattr(keizerframe, name))
        and not isinstance(getattr(keizerframe, name), type)
        and ">>>" not in (getattr(keizerframe, name).__doc__ or "")
    ]
    assert bare == []
