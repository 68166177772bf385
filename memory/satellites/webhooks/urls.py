"""The addresses of the satellite, below /v1/."""

from django.urls import path

from memory.satellites.webhooks.api import WebhookViewSet

urlpatterns = [
    path(
        "webhooks",
        WebhookViewSet.as_view({"get": "entries", "post": "create"}),
        name="webhooks",
    ),
    path(
        "webhooks/<uuid:pk>",
        WebhookViewSet.as_view({"get": "load", "patch": "change", "delete": "remove"}),
        name="webhook",
    ),
    path(
        "webhooks/<uuid:pk>/rotate-secret",
        WebhookViewSet.as_view({"post": "rotate"}),
        name="webhook-rotate-secret",
    ),
    path("webhooks/<uuid:pk>/test", WebhookViewSet.as_view({"post": "test"}), name="webhook-test"),
    path(
        "webhooks/<uuid:pk>/deliveries",
        WebhookViewSet.as_view({"get": "deliveries"}),
        name="webhook-deliveries",
    ),
    path(
        "webhooks/<uuid:pk>/deliveries/<uuid:delivery_id>/replay",
        WebhookViewSet.as_view({"post": "replay_one"}),
        name="webhook-delivery-replay",
    ),
    path(
        "webhooks/<uuid:pk>/replay",
        WebhookViewSet.as_view({"post": "replay"}),
        name="webhook-replay",
    ),
]
