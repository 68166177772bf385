"""From what was said to memories: jobs, their windows and what screens their outcome."""
