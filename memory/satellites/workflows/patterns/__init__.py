"""Shapes of code that repeat: found in syntax trees, and told as templates with named parts."""
