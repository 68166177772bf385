"""The addresses of the satellite, below /v1/."""

from django.urls import path

from memory.satellites.tasks.api import TaskViewSet

urlpatterns = [
    path("tasks", TaskViewSet.as_view({"post": "create"}), name="tasks"),
    path("tasks/<str:task_id>", TaskViewSet.as_view({"get": "load"}), name="task"),
    path(
        "tasks/<str:task_id>/items",
        TaskViewSet.as_view({"post": "add", "get": "items", "delete": "clear"}),
        name="task-items",
    ),
    path(
        "tasks/<str:task_id>/items/<uuid:item_id>/promote",
        TaskViewSet.as_view({"post": "promote"}),
        name="task-item-promote",
    ),
    path(
        "tasks/<str:task_id>/complete",
        TaskViewSet.as_view({"post": "complete"}),
        name="task-complete",
    ),
    path("tasks/<str:task_id>/fail", TaskViewSet.as_view({"post": "fail"}), name="task-fail"),
]
