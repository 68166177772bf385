"""What runs through a conversation: topics, people, corrections."""
