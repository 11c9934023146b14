import pytest

from specprof.errors import UsageError
from specprof.prompts.sources import files, stem_of


def test_a_folder_stands_for_its_visible_prompt_files_in_the_order_of_names(tmp_path):
    inside = ("a.jsonl.gz", "b.jsonl", "d.json", "e.parquet", "f.csv")
    for name in (*inside, "c.txt", "README.md", ".hidden.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "d.jsonl").touch()
    assert list(files([tmp_path, "-", "x.txt"])) == [*(tmp_path / name for name in inside), "-", "x.txt"]


def test_a_folder_without_prompt_files_is_a_usage_error(tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(UsageError, match=r"has no \*\.jsonl"):
        list(files([tmp_path]))


@pytest.mark.parametrize(
    ("file", "task"),
    [("x/code.jsonl", "code"), ("code.jsonl.gz", "code"), ("chat.v2.ndjson", "chat.v2"), ("-", "default")],
)
def test_the_file_name_without_its_endings_is_a_task(file, task):
    assert stem_of(file) == task
