"""Weights of the models of ownership.py, written by `benchmarks.coding_context --only fit --write`.

The first of each is the constant, the others stand in the order of the features.
"""

from typing import Final

OF_ONE_FILE: Final = (
    -1.5733,
    0.1445,
    1.0099,
    0.1398,
    -0.4652,
    0.1236,
    0.0717,
    -0.0392,
    0.4767,
    -0.0743,
    0.1968,
    -0.0534,
    -0.0761,
    -0.0038,
    0.136,
)
OF_ALL_FILES: Final = (
    -1.2933,
    0.4971,
    0.5688,
    -1.0467,
    0.1062,
    0.8624,
    -0.0777,
    -0.5076,
    0.2931,
    0.259,
    1.078,
    0.6291,
    -0.0641,
)
