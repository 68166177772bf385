"""How often a serving process looks through its objects for rings of them that nothing needs."""

from __future__ import annotations

import gc

# After so many more objects than were let go, instead of Python's 700: a batch of memories that is
# written makes some 200,000 short-lived ones, hardly any in a ring, and looking through them took
# an eighth of its time.
OBJECTS = 10_000


def spare_the_collector() -> None:
    """Leave out what the process has loaded by now, and look through the rest less often.

    For a process that has loaded all it needs and serves from now on.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS, *gc.get_threshold()[1:])
