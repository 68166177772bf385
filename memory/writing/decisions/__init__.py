"""What people and agents decide about stored memories."""
