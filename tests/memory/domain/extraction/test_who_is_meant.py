"""Whom "he" and "she" mean: somebody, never where they work, study or come from."""

from __future__ import annotations

import pytest

from .conversation import both_passes


@pytest.mark.parametrize(
    ("lines", "told", "body"),
    [
        (["My son Leo goes to St Mary's.", "he plays the drums"], "Leo plays", "Mary plays"),
        (["My son Leo goes to St Mary's. He plays the drums."], "Leo plays", "Mary plays"),
        (["We hired Olga from Siemens.", "she starts Monday"], "Olga starts", "Siemens starts"),
        (["My daughter Ida's school is Oakfield Primary.", "She has a baby sister."],
         "Ida has a baby sister", "Oakfield Primary has"),
        (["My sister Ana works at Bosch.", "She joined in 2019."], "Ana joined", "Bosch joined"),
        (["Eva left Deloitte for Acme Corp.", "She is happier now."], "Eva is", "Corp is"),
        (["Ines bought a Toyota.", "She drives it to work."], "Ines drives", "Toyota drives"),
        (["Our accountant is Joe at Smith & Partners.", "He files in March."],
         "Joe files", "Partners files"),
        (["My dog is Rex and the vet is at Oak Clinic.", "He hates baths."],
         "Rex hates", "Clinic hates"),
        (["Olga is our new designer, she came from Siemens.", "She starts on Monday."],
         "Olga starts", "Siemens starts"),
    ],
)  # fmt: skip
def test_a_person_is_meant_and_no_organisation(lines: list[str], told: str, body: str) -> None:
    found = [each.content for each in both_passes(*(f"user: {line}" for line in lines))]
    assert any(told in content for content in found)
    assert not any(body in content for content in found)
