"""How the admin shows tiers."""

TIER_COLOURS = {"fast": "success", "balanced": "info", "powerful": "warning"}
