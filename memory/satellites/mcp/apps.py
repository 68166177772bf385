"""Django app: MCP."""

from memory import satellite


class McpConfig(satellite.Satellite):
    """The Model Context Protocol over the REST API."""

    name = "memory.satellites.mcp"
    label = "mcp"
    verbose_name = "MCP"
    mounts = {"": "memory.satellites.mcp.views"}
