"""Which bucket a request falls in: an analysis-time choice of task, prompt length, response length and labels."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from specprof.analysis.columns import Bools, Words, equals
from specprof.analysis.frame import Frame
from specprof.analysis.intervals import Ints
from specprof.errors import UsageError, did_you_mean
from specprof.lengths import PROMPT_EDGES, RESPONSE_EDGES, length_labels

DEFAULT_BY = ("task", "prompt", "response")
LABEL = "label."


@dataclass(frozen=True, slots=True)
class Cell:
    """The bucket that a row of the report describes; None in a field that does not restrict it."""

    task: str | None = None
    prompt: str | None = None
    response: str | None = None
    labels: tuple[tuple[str, str | None], ...] = ()

    def values(self) -> dict[str, str]:
        """What restricts it, under the keys of `--by`."""
        named = {"task": self.task, "prompt": self.prompt, "response": self.response}
        named |= {LABEL + name: value for name, value in self.labels}
        return {key: value for key, value in named.items() if value is not None}


PROMPT_LABELS = length_labels(PROMPT_EDGES)
RESPONSE_LABELS = length_labels(RESPONSE_EDGES)


def length_bucket(tokens: Ints, edges: Sequence[int]) -> Words:
    names = np.array(length_labels(edges), dtype=object)
    bucket: Words = names[np.digitize(tokens, edges) - 1]
    return bucket


def check_by(by: Sequence[str], labels: Collection[str]) -> tuple[str, ...]:
    """The keys that split requests: `arm` is dropped, as arms are entries of their own. Raises `UsageError` for an
    unknown key or a label that no request has (every request would fall in one nameless bucket)."""
    for key in by:
        label = key.removeprefix(LABEL)
        if key not in (*DEFAULT_BY, "arm") and label == key:
            hint = did_you_mean(key, (*DEFAULT_BY, "arm"), "use task, prompt, response or label.NAME")
            raise UsageError(f"`--by`: unknown key `{key}`", hint)
        if label != key and label not in labels:
            known = f"labels of these requests: {', '.join(sorted(labels))}" if labels else "no request has labels"
            raise UsageError(f"`--by`: no request has the label `{label}`", did_you_mean(label, labels, known))
    return tuple(dict.fromkeys(key for key in by if key != "arm"))


def cells(frame: Frame, by: Sequence[str]) -> list[Cell]:
    """The buckets that hold at least one request, by task, then from short to long, then by label. Without a key
    there is one that holds them all."""
    columns = [_values(frame, key, frame.requests.response_tokens) for key in by]
    found = set(zip(*columns, strict=True)) if columns else {()} if len(frame) else set()
    return sorted((_cell(by, values) for values in found), key=_order)


def in_cell(frame: Frame, cell: Cell, response_tokens: Ints) -> Bools:
    """Which requests the cell holds when their response lengths are `response_tokens`."""
    mask = np.ones(len(frame), dtype=np.bool_)
    restrictions = [(key, getattr(cell, key)) for key in DEFAULT_BY if getattr(cell, key) is not None]
    for key, value in (*restrictions, *((LABEL + name, value) for name, value in cell.labels)):
        mask &= equals(_values(frame, key, response_tokens), value)
    return mask


def _values(frame: Frame, key: str, response_tokens: Ints) -> Words:
    if key == "task":
        return frame.requests.task
    if key == "prompt":
        return length_bucket(frame.requests.prompt_tokens, PROMPT_EDGES)
    if key == "response":
        return length_bucket(response_tokens, RESPONSE_EDGES)
    nothing = np.full(len(frame), None, dtype=object)
    return frame.labels.get(key.removeprefix(LABEL), nothing)


def _cell(by: Sequence[str], values: Sequence[str | None]) -> Cell:
    named = dict(zip(by, values, strict=True))
    labels = tuple((key.removeprefix(LABEL), value) for key, value in named.items() if key.startswith(LABEL))
    return Cell(named.get("task"), named.get("prompt"), named.get("response"), labels)


def _order(cell: Cell) -> tuple[str, int, int, list[tuple[str, bool, str]]]:
    prompt = PROMPT_LABELS.index(cell.prompt) if cell.prompt else -1
    response = RESPONSE_LABELS.index(cell.response) if cell.response else -1
    labels = [(name, value is None, value or "") for name, value in cell.labels]
    return cell.task or "", prompt, response, labels
