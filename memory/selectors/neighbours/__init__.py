"""What new memories are compared with."""
