"""Numbers of Hypothesis examples that `make nightly` multiplies."""

from hypothesis import settings

_FEW = settings.get_profile("few").max_examples


def examples(usual: int) -> int:
    """Returns `usual`, multiplied as the loaded profile multiplies the default number."""
    return usual * settings().max_examples // _FEW
