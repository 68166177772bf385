#!/usr/bin/env python
"""Runs Palimpsest's commands: `palimpsest` of the installed wheel, `manage.py` in a checkout."""

import sys
from pathlib import Path


def main() -> None:
    """Runs the command of the command line."""
    # In the wheel the apps lie beside this file, in a folder that Python does not search by itself.
    folder = str(Path(__file__).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    from config.console import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
