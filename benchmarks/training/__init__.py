"""Training of the small models; used by `make weights` alone, with the `training` extra."""
