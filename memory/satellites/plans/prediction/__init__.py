"""What an agent at work will need next: the signals of its work, and the scores of memories."""
