"""Shared parts of the tests: the cast, fakes, factories of shapes, and ways to wait."""
