"""The base of the apps under memory/satellites/, which the kernel finds without importing them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from celery import current_app
from django.apps import AppConfig, apps
from django.urls import URLPattern, URLResolver, include, path

if TYPE_CHECKING:
    from prometheus_client.core import Metric


class Satellite(AppConfig):
    """A removable app: it registers routes, periodic tasks and, in `ready()`, rules and plans.

    `routes` names the URLconf below /v1/. `mounts` are URLconfs beside it by their prefix.
    `periodic` are the names of Celery tasks with their intervals in seconds.
    """

    routes = ""
    mounts: Mapping[str, str] = MappingProxyType({})
    periodic: Mapping[str, float] = MappingProxyType({})

    def ready(self) -> None:
        """Schedules the periodic tasks."""
        for name, seconds in self.periodic.items():
            current_app.add_periodic_task(seconds, current_app.signature(name), name=name)

    def metrics(self) -> Iterator[Metric]:
        """Yields figures for /metrics, read in the scope of all teams."""
        yield from ()


def satellites() -> Iterator[Satellite]:
    """Returns the installed satellites in the order of INSTALLED_APPS."""
    return (each for each in apps.get_app_configs() if isinstance(each, Satellite))


def satellite_routes() -> list[URLPattern | URLResolver]:
    """Returns the satellites' routes below /v1/."""
    return [path("", include(each.routes)) for each in satellites() if each.routes]


def satellite_mounts() -> list[URLPattern | URLResolver]:
    """Returns the satellites' routes beside /v1/."""
    return [
        path(prefix, include(urlconf))
        for each in satellites()
        for prefix, urlconf in each.mounts.items()
    ]
