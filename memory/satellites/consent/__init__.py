"""Changes of a person's profile that wait for a yes: proposed, decided, expired."""
