"""English as far as the rules need it: words, verbs, clauses, names."""
