"""Base class of the apps under memory/satellites/; the kernel finds them without importing them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from celery import current_app
from django.apps import AppConfig, apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.urls import URLPattern, URLResolver, include, path

if TYPE_CHECKING:
    from prometheus_client.core import Metric


class Satellite(AppConfig):
    """A removable app: it names routes and tasks, and registers rules and listeners in `ready()`.

    `requires` are the labels of satellites without which it cannot be installed.
    `routes` names the URLconf below /v1/. `mounts` are URLconfs beside it by their prefix.
    `periodic` are the names of Celery tasks with their intervals in seconds. `of_person` are the
    models that an export of a person holds, by the kind of their lines, each with the lookup of the
    person. `kept_back` are tables that an export of a team leaves out, each with the reason.
    `enums` name choices in the OpenAPI schema, as ENUM_NAME_OVERRIDES of drf-spectacular.
    """

    requires: tuple[str, ...] = ()
    routes = ""
    mounts: Mapping[str, str] = MappingProxyType({})
    periodic: Mapping[str, float] = MappingProxyType({})
    of_person: Mapping[str, tuple[str, str]] = MappingProxyType({})
    kept_back: Mapping[str, str] = MappingProxyType({})
    enums: Mapping[str, str] = MappingProxyType({})

    def ready(self) -> None:
        """Checks what it requires, schedules the periodic tasks and names the enums."""
        missing = set(self.requires) - {each.label for each in satellites()}
        if missing:
            raise ImproperlyConfigured(f"{self.name} requires {', '.join(sorted(missing))}.")
        enums: dict[str, str] = settings.SPECTACULAR_SETTINGS["ENUM_NAME_OVERRIDES"]  # type: ignore[assignment]
        enums.update(self.enums)
        for name, seconds in self.periodic.items():
            current_app.add_periodic_task(seconds, current_app.signature(name), name=name)

    def warm_up(self) -> None:
        """Loads what its first request would otherwise wait for."""

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
