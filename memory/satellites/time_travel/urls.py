"""The addresses of the pages."""

from django.urls import path

from memory.satellites.time_travel.memory_life import memory_life
from memory.satellites.time_travel.time_travel import time_travel

urlpatterns = [
    path("", time_travel, name="time_travel"),
    path("<uuid:memory_id>/", memory_life, name="memory_life"),
]
