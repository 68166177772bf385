"""The working memory of tasks: begun, noted in, ended, and promoted from."""
