"""Django app: mem0 protocol."""

from memory import satellite


class Mem0Config(satellite.Satellite):
    """The mem0 client's protocol over the same services."""

    name = "memory.satellites.mem0"
    label = "mem0"
    verbose_name = "mem0 protocol"
    mounts = {"mem0/": "memory.satellites.mem0.others"}
