"""Settings, wiring and start-up of Palimpsest."""

import os

# Products of matrices run in the thread that asks: a server has a request or a task for each of
# its cores already, and a pool of its own in every process would wait by spinning. It is read when
# numpy is first imported, and what the environment says goes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Likewise the tokenizers of the small models, whose threads would not survive a fork either.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from .celery import app as celery_app

__all__ = ["__version__", "celery_app"]

__version__ = "0.1.0"
