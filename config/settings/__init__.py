"""Django settings, read from the environment; without any, the embedded services are used."""

# Django asks this module for all of them.
from .installation import *  # noqa: F403
from .memory import *  # noqa: F403
from .web import *  # noqa: F403
