"""How a process that serves with many threads gives memory back."""

import ctypes
import sys

# <malloc.h> of glibc.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_LARGE = 1 << 20


def give_memory_back() -> bool:
    """Have freed memory go back to the system; call it before there are threads.

    By itself glibc gives each thread a heap of its own and, once something large was freed, keeps
    up to 64 MB in each: with eight threads that was a hundred megabytes. Whether it was done: other
    libraries know of no such settings.
    """
    if sys.platform != "linux":
        return False
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is None:
        return False
    options = {_M_ARENA_MAX: 2, _M_MMAP_THRESHOLD: _LARGE, _M_TRIM_THRESHOLD: 2 * _LARGE}
    # Each is to be set, whatever becomes of the others.
    done = [set_option(number, value) == 1 for number, value in options.items()]
    return all(done)
