"""An agent's document with every field set."""

from __future__ import annotations

from typing import Any

WHOLE: dict[str, Any] = {
    "name": "Kyra",
    "tagline": "a research assistant",
    "personality": {
        "traits": ["Curious", "Patient"],
        "tone": "warm",
        "verbosity": "brief",
        "formality": "casual",
        "voice_examples": ["Here is what I found."],
        "custom_instructions": "Cite sources.\n\nThen stop.",
        "response_length": "short",
    },
    "rules": {"always": ["Quote figures."], "never": ["Guess."], "when_unsure": ["Ask."]},
    "skills": {
        "shared": ["search", {"name": "code-review", "description": "reads diffs"}],
        "custom": [{"name": "charts", "description": "draws"}],
        "disabled": ["code-review"],
    },
    "model_config": {
        "model_name": "openai/gpt-4o",
        "max_tier": "balanced",
        "custom_tiers": [
            {
                "name": "fast",
                "model_name": "small",
                "cost_per_1k_input": 0.0008,
                "cost_per_1k_output": 0.004,
            }
        ],
        "daily_budget_usd": 2.5,
    },
    "memory_config": {
        "retrieval_weights": {"semantic": 0.7},
        "token_budget": 1500,
        "summarize_interval": 10,
        "extraction_instructions": "Look for deadlines.\nLeave out the weather.",
        "allowed_categories": ["profile", "goals"],
        "keeps_to_itself": True,
        "context_policy": {"shares": {"task": 0.5, "global": 0.25}, "head_tail_preserve": 2},
    },
}
