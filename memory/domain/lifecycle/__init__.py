"""How a store tends itself: steps, tiers and times, without Django."""
