"""The addresses of the satellite, below /v1/."""

from django.urls import path

from memory.satellites.chat.views import ChatViewSet, ModelViewSet

urlpatterns = [
    path("chat/completions", ChatViewSet.as_view({"post": "create"}), name="chat-completions"),
    path("models", ModelViewSet.as_view({"get": "entries"}), name="models"),
    path("models/<path:name>", ModelViewSet.as_view({"get": "load"}), name="model"),
]
