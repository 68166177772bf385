"""Whether a sentence is meant, and meant for keeps."""
