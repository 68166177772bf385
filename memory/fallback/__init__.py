"""The extractor and the judge that work without a language model.

English and modest: what they are not sure of, they leave as it was said. Only
`memory/clients/tools.py` imports from here; the rest of the product sees the ports.
"""
