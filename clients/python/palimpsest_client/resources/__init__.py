"""The operations of the API, by what they act on."""
