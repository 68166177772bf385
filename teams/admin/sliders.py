"""Numbers that are moved as sliders: weights of which the ratio counts."""

from __future__ import annotations

from typing import Any

from django import forms

from .theme import TextWidget

# A slider ends here until a larger number is typed; then it ends there.
USUAL_MOST = 1.0
STEP = 0.01
_SLIDERS = "teams/admin/sliders"


class SliderWidget(TextWidget):
    """A number with a slider beside it and its share of the sum of its `group`.

    The number is what the form sends, so it works without script and keeps every digit; empty
    means `default`. The script (sliders.js) moves both together and lets both say "input".
    """

    template_name = "teams/widgets/slider.html"
    input_type = "number"

    class Media:
        css = {"all": [f"{_SLIDERS}.css"]}
        js = [f"{_SLIDERS}.js"]

    def __init__(self, *, label: str, default: float, group: str = "weights") -> None:
        super().__init__(attrs={"min": 0, "step": "any", "placeholder": f"{default:g}"})
        self.label, self.default, self.group = label, default, group

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        """The number's own, and where the slider stands and ends."""
        context: dict[str, Any] = super().get_context(name, value, attrs)
        stands = _number(value, self.default)
        context["slider"] = {
            "label": self.label,
            "group": self.group,
            "default": f"{self.default:g}",
            "stands": f"{stands:g}",
            "most": f"{max(USUAL_MOST, stands):g}",
            "step": f"{STEP:g}",
        }
        return context


def slider_field(
    *, label: str, default: float, most: float, help_text: str = "", group: str = "weights"
) -> forms.FloatField:
    """A number from 0 to `most` as a slider; None where it is left empty, which means `default`."""
    return forms.FloatField(
        label=label,
        required=False,
        min_value=0,
        max_value=most,
        help_text=help_text,
        widget=SliderWidget(label=label, default=default, group=group),
    )


def _number(value: object, default: float) -> float:
    try:
        return float(str(value))
    except ValueError:
        return default
