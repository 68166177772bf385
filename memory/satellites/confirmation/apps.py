"""Django app: Confirmation."""

from memory import satellite


class ConfirmationConfig(satellite.Satellite):
    """Asks people about memories that a tool or a web page alone says."""

    name = "memory.satellites.confirmation"
    label = "confirmation"
    verbose_name = "Confirmation"
    routes = "memory.satellites.confirmation.api"
