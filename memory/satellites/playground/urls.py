"""The address of the playground."""

from django.contrib import admin
from django.urls import path

from memory.satellites.playground.page import playground_page

urlpatterns = [path("", admin.site.admin_view(playground_page), name="memory_playground")]
