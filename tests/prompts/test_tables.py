import gzip
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from specprof.errors import BadRecordError
from specprof.prompts import fields
from specprof.prompts.formats import records
from specprof.prompts.tables import csv_rows, parquet_rows


def rows_of(text):
    return list(csv_rows(io.BufferedReader(io.BytesIO(text.encode() if isinstance(text, str) else text)), "a"))


def test_a_row_of_parquet_counts_from_one_and_lacks_what_is_null(tmp_path):
    messages = [[{"role": "user", "content": "Hi", "name": None}], None]
    pq.write_table(pa.table({"messages": messages, "prompt": [None, "x"]}), tmp_path / "a.parquet")
    assert list(records(tmp_path / "a.parquet")) == [
        (f"{tmp_path}/a.parquet:row 1", {"messages": [{"role": "user", "content": "Hi"}]}),
        (f"{tmp_path}/a.parquet:row 2", {"prompt": "x"}),
    ]


def test_row_numbers_go_on_from_batch_to_batch(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"prompt": [str(n) for n in range(600)]}), path, row_group_size=100)
    found = list(records(path))
    assert found[599] == (f"{path}:row 600", {"prompt": "599"})
    assert len({place for place, _ in found}) == 600


def test_parquet_is_recognised_by_its_content_too(tmp_path):
    pq.write_table(pa.table({"prompt": ["x"]}), tmp_path / "noname")
    assert [record for _, record in records(tmp_path / "noname")] == [{"prompt": "x"}]


def test_a_broken_parquet_file_is_named(tmp_path):
    pq.write_table(pa.table({"prompt": ["x"] * 9}), tmp_path / "whole.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "whole.parquet").read_bytes()[:-20])
    for content in ((tmp_path / "cut.parquet").read_bytes(), b"no parquet"):
        with pytest.raises(BadRecordError, match="is no Parquet that can be read"):
            list(parquet_rows(io.BufferedReader(io.BytesIO(content)), "a"))


def test_an_empty_parquet_file_has_no_rows(tmp_path):
    pq.write_table(pa.table({"prompt": pa.array([], pa.string())}), tmp_path / "a.parquet")
    with pytest.raises(BadRecordError, match=r"a\.parquet` has no rows"):
        list(records(tmp_path / "a.parquet"))


def test_a_row_of_csv_may_span_lines_and_is_named_by_its_first():
    assert rows_of('prompt,task\n"two\nlines",qa\n\n"a ""quoted"" one",\n') == [
        ("a:2", {"prompt": "two\nlines", "task": "qa"}),
        ("a:5", {"prompt": 'a "quoted" one'}),
    ]


def test_whole_numbers_of_csv_are_numbers_only_where_a_number_is_meant():
    ((_, record),) = rows_of("prompt,output_tokens,turn,id\n42,8,0,7\n")
    assert record == {"prompt": "42", "output_tokens": 8, "turn": 0, "id": "7"}


def test_a_cell_may_be_longer_than_the_modules_own_limit():
    ((_, record),) = rows_of("prompt\n" + "x" * 200_000)
    assert len(record["prompt"]) == 200_000


def test_a_row_with_another_number_of_cells_comes_as_an_error_and_the_reading_goes_on():
    (_, first), (_, second) = rows_of("prompt,task\nHello, you,qa\nx,qa\n")
    assert str(first) == "`a:2` has 3 cells, the header 2"
    assert second == {"prompt": "x", "task": "qa"}


@pytest.mark.parametrize("text", [b'prompt\n"open', b'prompt\n"a"b\n', b"prompt\n\xff\n"])
def test_broken_csv_is_named(text):
    with pytest.raises(BadRecordError, match="is no CSV that can be read"):
        rows_of(text)


@pytest.mark.parametrize("text", ["", "prompt\n", "prompt\n\n\n"])
def test_csv_without_rows_is_named(text):
    with pytest.raises(BadRecordError, match="`a` has no rows"):
        rows_of(text)


def test_csv_may_be_zipped(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"prompt\nx\n", mtime=0))
    assert [record for _, record in records(tmp_path / "a.csv.gz")] == [{"prompt": "x"}]


def test_a_number_of_thousands_of_digits_is_the_record_s_fault_and_no_crash():
    ((_, record),) = rows_of(f"prompt,output_tokens\nx,{'9' * 5000}\n")
    with pytest.raises(BadRecordError, match='has "output_tokens"'):
        fields.output_tokens(record, "a:2")


def test_two_columns_of_one_name_are_refused(tmp_path):
    with pytest.raises(BadRecordError, match="`a:1` has two columns `prompt`"):
        rows_of("prompt,prompt\nx,y\n")
    table = pa.Table.from_arrays([pa.array(["x"]), pa.array(["y"])], names=["prompt", "prompt"])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(BadRecordError, match="has two columns `prompt`"):
        list(records(tmp_path / "a.parquet"))


def test_a_damaged_page_is_a_bad_record_that_can_be_left_out(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"prompt": [f"{n} " * 99 for n in range(99)]}), path, compression="zstd", use_dictionary=False
    )
    content = bytearray(path.read_bytes())
    content[40:400] = bytes(360)
    path.write_bytes(content)
    with pytest.raises(BadRecordError, match="is no Parquet that can be read"):
        list(records(path))
