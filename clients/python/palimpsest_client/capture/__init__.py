"""`palimpsest-capture`: hooks of coding agents that send sessions and bring the context in."""
