"""The one way out: from a question to a prompt or to results."""
