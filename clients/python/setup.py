"""Refuses to build the client without the modules that `make client` generates."""

from pathlib import Path

from setuptools import setup  # type: ignore[import-untyped]

if not (Path(__file__).parent / "palimpsest_client" / "params.py").exists():
    raise SystemExit(
        "Run `make client` in the repository first: it generates models.py, params.py."
    )
setup()
