"""The rules read English: what is said in another language becomes no memory."""

from __future__ import annotations

import pytest

from .conversation import both_passes


@pytest.mark.parametrize(
    "said",
    [
        "Ich wohne in Hamburg und habe zwei Katzen.",
        "Je suis allergique aux noix et j'habite à Lyon.",
        "Soy alérgica a los cacahuetes y vivo en Sevilla.",
        "Sono allergico alle noci e abito a Torino.",
        "Mijn zus woont in Utrecht en heeft een hond.",
        "Eu moro no Porto e tenho dois gatos.",
        "Mieszkam w Krakowie i mam psa.",
        "Jag bor i Malmö och har en hund.",
        "Я живу в Москве.",
        "私は東京に住んでいます。",
    ],
)
def test_another_language_becomes_no_memory(said: str) -> None:
    assert both_passes(f"user: {said}") == []


@pytest.mark.parametrize(
    "said",
    [
        "I live in Los Angeles and work at La Paz bank.",
        "My street is Calle de la Luna in Madrid.",
        "I love pain au chocolat and crème brûlée.",
        "We met on June 20.",
        "Ich heiße Anna. I live in Berlin.",
    ],
)
def test_english_with_words_from_elsewhere_is_read(said: str) -> None:
    (told,) = both_passes(f"user: {said}")
    assert "Ich" not in told.content
