"""The address of the MCP endpoint."""

from django.urls import path

from memory.satellites.mcp.views import McpView

urlpatterns = [path("mcp", McpView.as_view(), name="mcp")]
