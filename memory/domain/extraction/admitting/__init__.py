"""Whether a clause is kept, weighed by what it shows."""
