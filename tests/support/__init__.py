"""What several test files use: the cast, fakes, factories of shapes, and ways to wait."""
