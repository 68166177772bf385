"""A question on its way out: candidates, scores, budgets, prompts, and answers kept for reuse."""
