"""Texts as every room reads them: words, sentences, numbers, dates."""
