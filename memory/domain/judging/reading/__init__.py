"""One statement, read: words, quantities, dates, names, roles."""
