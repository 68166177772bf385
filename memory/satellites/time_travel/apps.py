"""Django app: Time travel."""

from memory import satellite


class TimeTravelConfig(satellite.Satellite):
    """Shows the memories of a past moment in the admin."""

    name = "memory.satellites.time_travel"
    label = "time_travel"
    verbose_name = "Time travel"
    mounts = {"admin/time-travel/": "memory.satellites.time_travel.time_travel"}
