"""What kind of memory a clause is."""
