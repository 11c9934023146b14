"""Reading finished shards: each is trusted as a whole or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from specprof.errors import DamagedError, SpecprofError, UsageError
from specprof.records import SCHEMA_VERSION
from specprof.store.check import problem
from specprof.store.schema import SCHEMA, VERSION_KEY

_SKIP = "pass `--skip-bad` to go on without it"


@dataclass(frozen=True, slots=True)
class Problems:
    """Where errors about single files go: raised, or with `skip_bad` kept as text."""

    skip_bad: bool
    found: list[str] = field(default_factory=list)

    def add(self, error: SpecprofError) -> None:
        if not self.skip_bad:
            raise error
        self.found.append(str(error))


def read_shards(folder: Path, names: Sequence[str], problems: Problems) -> pa.Table:
    """The columns `names` of every shard, those of `CHECKED` among them."""
    tables: dict[Path, pa.Table] = {}
    for path in sorted(folder.glob("*.parquet")):
        try:
            tables[path] = _read_shard(path, names)
        except SpecprofError as error:
            problems.add(error)
    while duplicate := _duplicate(tables):
        request_id, first, second = duplicate
        where = f"`{first}` and `{second}`" if first != second else f"`{first}` twice"
        hint = f"remove one of them, or pass `--skip-bad` to go on without `{second.name}`"
        problems.add(DamagedError(f"request `{request_id}` is in {where}", hint))
        del tables[second]
    return pa.concat_tables([_schema(names).empty_table(), *tables.values()])


def _read_shard(path: Path, names: Sequence[str]) -> pa.Table:
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            _check_schema(path, file.schema_arrow)
            table = file.read(columns=list(names)).select(list(names))
        table = table.replace_schema_metadata().cast(_schema(names))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DamagedError(f"`{path}` cannot be read: {error}", _SKIP) from error
    if fault := problem(table):
        raise DamagedError(f"`{path}` {fault}", _SKIP)
    return table


def _check_schema(path: Path, schema: pa.Schema) -> None:
    version = (schema.metadata or {}).get(VERSION_KEY, b"")
    if not version.isdigit():
        raise DamagedError(f"`{path}` was not written by specprof: it has no schema version", _SKIP)
    if int(version) > SCHEMA_VERSION:
        newer = f"`{path}` has schema {int(version)}; this specprof reads up to {SCHEMA_VERSION}"
        raise UsageError(newer, "upgrade specprof")
    if missing := [name for name in SCHEMA.names if name not in schema.names]:
        raise DamagedError(f"`{path}` has no column {', '.join(missing)}", _SKIP)
    for wanted in SCHEMA:
        if (found := schema.field(wanted.name).type) != wanted.type:
            raise DamagedError(f"`{path}` has column {wanted.name} as {found}, not {wanted.type}", _SKIP)


def _schema(names: Sequence[str]) -> pa.Schema:
    return pa.schema([SCHEMA.field(name) for name in names])


def _duplicate(tables: dict[Path, pa.Table]) -> tuple[str, Path, Path] | None:
    """A request id that stands twice, and in which two files."""
    ids = pa.chunked_array([chunk for table in tables.values() for chunk in table["request_id"].chunks], pa.string())
    codes = ids.combine_chunks().dictionary_encode().indices.to_numpy()
    _, firsts = np.unique(codes, return_index=True)
    if len(firsts) == len(codes):
        return None
    row = int(np.setdiff1d(np.arange(len(codes)), firsts)[0])
    ends = np.cumsum([len(table) for table in tables.values()])
    first, second = np.searchsorted(ends, [int(firsts[codes[row]]), row], side="right")
    paths = list(tables)
    return str(ids[row]), paths[first], paths[second]
