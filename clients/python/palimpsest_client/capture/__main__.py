"""Runs the program where only the module's name is known: `python -m palimpsest_client.capture`."""

import sys

from palimpsest_client.capture.program import main

sys.exit(main())
