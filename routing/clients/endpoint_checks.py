"""Whether an endpoint answers: asked once, with little patience, and said in words."""

from __future__ import annotations

import time
from dataclasses import dataclass

import openai

from .endpoints import error_code, open_client

PATIENCE_SECONDS = 5.0
_NONSENSE = "It answered with something that is no answer of the protocol."
_NO_LIST = frozenset({404, 405, 501})


@dataclass(frozen=True, slots=True)
class EndpointCheck:
    """What an endpoint did when it was asked: a sentence without its own words or the key."""

    is_well: bool
    words: str
    milliseconds: int


def check_endpoint(
    *, base_url: str, api_key: str, timeout: float, model: str = "", listed: tuple[str, ...] = ()
) -> EndpointCheck:
    """Ask the endpoint for its models, or `model` for one token where it does not list them.

    `listed` are the names of models that are meant to be there. Nothing is tried again, no redirect
    is followed, and it takes `PATIENCE_SECONDS` at most for each of the two; never raises.
    """
    started = time.perf_counter()
    client = open_client(
        base_url=base_url,
        api_key=api_key,
        timeout=min(timeout, PATIENCE_SECONDS),
        max_retries=0,
        follow_redirects=False,
    )
    try:
        with client:
            is_well, words = _asked(client, model, listed)
    except openai.OpenAIError as error:
        is_well, words = False, _failure(error)
    except ValueError:
        # The client cannot read the answer.
        is_well, words = False, _NONSENSE
    return EndpointCheck(is_well, words, round((time.perf_counter() - started) * 1000))


def _asked(client: openai.OpenAI, model: str, listed: tuple[str, ...]) -> tuple[bool, str]:
    try:
        found = {str(each.id) for each in client.models.list().data or ()}
    except openai.APIStatusError as error:
        if error.status_code not in _NO_LIST or not model:
            raise
        client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": "Hi"}], max_tokens=1
        )
        return True, f"It does not list its models; asked for one token, {model} answered."
    except (AttributeError, TypeError):
        return False, _NONSENSE
    missing = [name for name in listed if name not in found]
    count = f"It answered and lists {len(found)} model{'' if len(found) == 1 else 's'}"
    if missing:
        return False, f"{count}, but not: {', '.join(missing)}."
    return True, f"{count}."


def _failure(error: openai.OpenAIError) -> str:
    """What failed, in our words: the endpoint's own may repeat the key."""
    if isinstance(error, openai.APITimeoutError):
        return "It did not answer in time."
    if isinstance(error, openai.APIConnectionError):
        return "It cannot be reached: look at the address, and whether it is up."
    if not isinstance(error, openai.APIStatusError):
        return _NONSENSE
    code = f"{error.status_code} {error_code(error)}".strip()
    if error.status_code in (401, 403):
        return f"It refuses the API key (HTTP {code})."
    if error.status_code == 404:
        return f"There is no such address (HTTP {code}): does it end as the provider says?"
    if error.status_code == 429:
        return f"It is asked too much, or the account is used up (HTTP {code})."
    if 300 <= error.status_code < 400:
        return f"It leads to another address (HTTP {code}): enter that one."
    return f"It answered with an error (HTTP {code})."
