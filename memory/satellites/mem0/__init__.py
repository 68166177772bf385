"""The REST protocol of mem0's `MemoryClient`, over the same services as /v1/ (docs.md)."""
