"""Secrets are masked wherever they stand, and what only looks like one is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.secrets import MASK, mask_secrets

KEY_ID = "AKIAIOSFODNN7EXAMPLE"
OTHER_HALF = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("the password is c0rrect-horse", False),
        ("card 4111 1111 1111 1111 works", False),
        ("card 4111 1111 1111 1112 works", True),
        ("use sk-live-abcdefghij0123456789", False),
        ("postgres://ada:s3cr3t@db.internal/prod is the database", False),
        ("redis://:s3cr3t@cache:6379/0 is the cache", False),
        ("https://docs.example.com:8443/guide, or ask ops@example.com", True),
        ("the token expired on Monday", True),
        ("order 1234567890 arrived", True),
    ],
)
def test_secrets_are_masked_and_ordinary_numbers_are_not(said: str, kept: bool) -> None:
    assert (MASK not in mask_secrets(text=said)) is kept


def test_a_private_key_leaves_nothing_of_itself() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"
    assert mask_secrets(text=f"{key} for CI") == "[masked] for CI"


@pytest.mark.parametrize(
    "said",
    [
        f"{KEY_ID} / {OTHER_HALF}",
        f"{KEY_ID}\n{OTHER_HALF}",
        f"aws_secret_access_key = {OTHER_HALF}",
        f'"SecretAccessKey": "{OTHER_HALF}"',
        f"The secret access key is {OTHER_HALF}, rotate it.",
        "a8Xk2Lm9Qz4Rt7Yv1Bn3Cw6Ds5Fg8Hj0Kp2Mq4Zx on its own",
    ],
)
def test_the_second_half_of_an_aws_key_pair_is_masked(said: str) -> None:
    masked = mask_secrets(text=said)
    assert OTHER_HALF[:12] not in masked
    assert "a8Xk2Lm9" not in masked


@pytest.mark.parametrize(
    "said",
    [
        "src/components/UserPreferencesPanelView2",
        "AbstractUserPreferencesServiceFactoryImp",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ],
)
def test_forty_characters_that_are_words_stay(said: str) -> None:
    assert len(said) == 40
    assert mask_secrets(text=f"{said} is where it is") == f"{said} is where it is"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("IBAN DE89 3704 0044 0532 0130 00 BIC COBADEFFXXX", "IBAN [masked] BIC COBADEFFXXX"),
        ("Pay to gb29 nwbk 6016 1331 9268 19, please", "Pay to [masked], please"),
        ("NL91ABNA0417164300.", "[masked]."),
        ("NO93 8601 1117 947 on Monday", "[masked] on Monday"),
        ("DE89 3704 0044 0532 0130 01", "DE89 3704 0044 0532 0130 01"),
        ("the order DE12 3456 7890 1234 5678 90", "the order DE12 3456 7890 1234 5678 90"),
        ("part XX89 3704 0044 0532 0130 00", "part XX89 3704 0044 0532 0130 00"),
    ],
)
def test_an_account_number_with_a_valid_checksum_is_masked(said: str, left: str) -> None:
    assert mask_secrets(text=said) == left


def iban(account: str, *, off: int = 0) -> str:
    """A German account number with its check digits, which are wrong by `off`."""
    rest = int(account + "131400") % 97
    return f"DE{(98 - rest + off - 1) % 97 + 1:02d}{account}"


@given(st.text(alphabet="0123456789", min_size=18, max_size=18), st.integers(1, 90))
def test_the_check_digits_decide(account: str, off: int) -> None:
    number = iban(account)
    spaced = " ".join(number[at : at + 4] for at in range(0, len(number), 4))
    assert mask_secrets(text=f"to {number} now") == "to [masked] now"
    assert mask_secrets(text=f"to {spaced} now") == "to [masked] now"
    assert mask_secrets(text=f"to {iban(account, off=off)} now") != "to [masked] now"
