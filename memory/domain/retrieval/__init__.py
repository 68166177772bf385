"""Parses questions, and scores how well a memory and its surroundings answer them."""
