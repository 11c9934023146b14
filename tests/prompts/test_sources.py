import pytest

from specprof.errors import UsageError
from specprof.prompts.sources import files, stem_of


def test_a_folder_stands_for_its_visible_jsonl_files_in_the_order_of_names(tmp_path):
    for name in ("b.jsonl", "a.jsonl.gz", "c.txt", ".hidden.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "d.jsonl").touch()
    assert list(files([tmp_path, "-", "x.json"])) == [tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl", "-", "x.json"]


def test_a_folder_without_jsonl_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match=r"has no \*\.jsonl"):
        list(files([tmp_path]))


@pytest.mark.parametrize(
    ("file", "task"),
    [("x/code.jsonl", "code"), ("code.jsonl.gz", "code"), ("chat.v2.ndjson", "chat.v2"), ("-", "default")],
)
def test_the_file_name_without_its_endings_is_a_task(file, task):
    assert stem_of(file) == task
