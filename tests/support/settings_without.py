"""The settings without the satellites of WITHOUT_SATELLITES, on another database."""

import os

from config.settings import *  # noqa: F403
from config.settings import DATABASES, INSTALLED_APPS

_OUT = {f"memory.satellites.{each}" for each in os.environ["WITHOUT_SATELLITES"].split()}
INSTALLED_APPS = [each for each in INSTALLED_APPS if each not in _OUT]
for each in DATABASES.values():
    each["NAME"] = os.environ["PALIMPSEST_DATABASE"]
