"""From the columns of a requests table to numpy arrays, one entry per request or per round. Null is never zero."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from specprof.analysis.intervals import Floats, Ints

Words = NDArray[np.object_]
Bools = NDArray[np.bool_]


def integers(table: pa.Table, name: str) -> Ints:
    return np.asarray(table[name].to_numpy(), dtype=np.int64)


def numbers(table: pa.Table, name: str) -> Floats:
    """NaN where the value is null or the table lacks the column."""
    if name not in table.column_names:
        return np.full(table.num_rows, np.nan)
    return np.asarray(table[name].cast(pa.float64()).to_numpy(), dtype=np.float64)


def words(table: pa.Table, name: str) -> Words:
    """None where the value is null or the table lacks the column."""
    if name not in table.column_names:
        return np.full(table.num_rows, None, dtype=object)
    return np.asarray(table[name].to_numpy(), dtype=object)


def equals(values: Words, value: str | None) -> Bools:
    same: Bools = (values == np.array(value, dtype=object)).astype(np.bool_)
    return same


def codes(column: pa.ChunkedArray) -> Ints:
    """Equal values get equal numbers, counted from 0 in order of appearance."""
    encoded = column.combine_chunks().dictionary_encode()
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def clusters(table: pa.Table) -> Ints:
    """The conversation where there is one, else the prompt. The prefixes keep equal names of the two apart."""
    prompt = pc.binary_join_element_wise("prompt", table["prompt_id"], ":")
    if "conversation_id" not in table.column_names:
        return codes(prompt)
    conversation = table["conversation_id"].cast(pa.string())
    return codes(pc.coalesce(pc.binary_join_element_wise("conversation", conversation, ":"), prompt))


def lookups(table: pa.Table, name: str) -> dict[str, pa.Array]:
    """The values of a map column under each of its keys, null where a request lacks the key."""
    if name not in table.column_names:
        return {}
    column = table[name].combine_chunks()
    keys = sorted(pc.unique(column.keys).to_pylist())
    return {key: pc.map_lookup(column, pa.scalar(key), "first") for key in keys}


def per_round(table: pa.Table, name: str, default: Ints, lengths: Ints) -> Ints:
    """The elements of a list column end to end; `default` where the column, a list or an element is null."""
    if name not in table.column_names:
        return default
    column = table[name].combine_chunks()
    elements = column.flatten()
    listed = np.flatnonzero(np.repeat(column.is_valid().to_numpy(zero_copy_only=False), lengths))
    known = elements.is_valid().to_numpy(zero_copy_only=False)
    result = default.copy()
    result[listed[known]] = elements.drop_null().cast(pa.int64()).to_numpy(zero_copy_only=False)
    return result
