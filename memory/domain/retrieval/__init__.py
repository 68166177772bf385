"""What a question asks for, and how well a memory and its surroundings answer it."""
