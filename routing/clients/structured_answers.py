"""Reading a model's answer in the shape it was asked for, and asking again for a better one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

import pydantic
from openai.types.chat import ChatCompletion

from .protocol import ChatMessage, CompletionError, FailureKind

T = TypeVar("T", bound=pydantic.BaseModel)

_ECHO_CHARS = 16_000
_REASONING = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"^```[\w-]*\s*\n(.*?)\n?```$", re.DOTALL)


class UnusableAnswerError(Exception):
    """An answer came and cannot be used; `advice` is for the model, `reason` for the log."""

    def __init__(self, *, reason: str, advice: str, answer: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.advice = advice
        self.answer = answer


def read_answer(*, schema: type[T], completion: ChatCompletion) -> T:
    """The answer, valid by `schema`.

    Raises UnusableAnswerError for one to be asked for again and CompletionError for a refusal.
    """
    if not completion.choices:
        raise UnusableAnswerError(reason="no choices", advice="It was empty.")
    choice = completion.choices[0]
    if choice.message is None:
        raise UnusableAnswerError(reason="no message", advice="It was empty.")
    if choice.finish_reason == "content_filter":
        raise CompletionError("A content filter stopped the answer.", kind=FailureKind.REFUSED)
    if choice.message.refusal:
        raise CompletionError("The model refused.", kind=FailureKind.REFUSED)
    text = choice.message.content or ""
    if choice.finish_reason == "length":
        raise UnusableAnswerError(
            reason="cut off at the length limit",
            advice="It was cut off before its end. Be briefer: fewer and shorter entries.",
        )
    try:
        return schema.model_validate_json(_json_text(text))
    except pydantic.ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        told = [f"{_path(problem['loc'])}: {problem['msg']}" for problem in problems[:8]]
        reason = f"invalid ({', '.join(sorted({problem['type'] for problem in problems}))})"
        advice = "It does not fit the schema:\n" + "\n".join(told)
    raise UnusableAnswerError(reason=reason, advice=advice, answer=text)


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "the answer"


def _json_text(text: str) -> str:
    """The JSON in an answer, without the reasoning and code fence that some models put round it."""
    bare = _REASONING.sub("", text).strip()
    fenced = _FENCE.match(bare)
    return fenced.group(1) if fenced else bare


def asked_again(
    *, messages: Sequence[ChatMessage], unusable: UnusableAnswerError
) -> list[ChatMessage]:
    """The prompt with what was wrong at its end, after the model's answer where there is one."""
    advice = (
        f"Your last answer could not be used. {unusable.advice}\n"
        "Answer the request again in full, with the corrected JSON alone."
    )
    asked = list(messages)
    if unusable.answer.strip():
        asked.append(ChatMessage(role="assistant", content=unusable.answer[:_ECHO_CHARS]))
    elif asked and asked[-1].role == "user":
        # Some chat templates refuse two user messages in a row.
        advice = f"{asked.pop().content}\n\n{advice}"
    return [*asked, ChatMessage(role="user", content=advice)]
