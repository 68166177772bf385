"""Messages on their way in: posted, imported."""
