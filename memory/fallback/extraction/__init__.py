"""The steps of the model-free extractor: reading, wording, weighing and filing statements."""
