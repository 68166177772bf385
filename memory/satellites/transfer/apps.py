"""Django app: Imports and exports."""

from memory import satellite


class TransferConfig(satellite.Satellite):
    """Imports and exports."""

    name = "memory.satellites.transfer"
    label = "transfer"
    verbose_name = "Imports and exports"
    mounts = {"admin/export/": "memory.satellites.transfer.admin"}
    routes = "memory.satellites.transfer.api"
    periodic = {
        "memory.satellites.transfer.tasks.sweep_imports": 15.0,
    }
