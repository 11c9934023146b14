import pytest

from specprof.config.file import find
from specprof.errors import UsageError


def test_specprof_toml_goes_before_pyproject(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.specprof.run]\nk = 1\n")
    assert find(tmp_path).table == {"run": {"k": 1}}
    (tmp_path / "specprof.toml").write_text("[run]\nk = 2\n")
    assert find(tmp_path).table == {"run": {"k": 2}}


@pytest.mark.parametrize("text", ["[tool.other]\nspecprof = 1\n", "tool = 3  # specprof", "not TOML at all"])
def test_a_pyproject_without_our_table_does_not_concern_us(tmp_path, text):
    (tmp_path / "pyproject.toml").write_text(text)
    assert find(tmp_path) is None


def test_a_byte_order_mark_and_crlf_are_no_part_of_the_settings(tmp_path):
    (tmp_path / "specprof.toml").write_bytes(b"\xef\xbb\xbf[run]\r\nk = 2\r\n")
    assert find(tmp_path).table == {"run": {"k": 2}}


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("[run]\nmodel = tiny\n", 2, "Invalid value"),
        ("[run]\nk = 1\nk = 2\n", 3, "Cannot overwrite a value"),
        ("[run]\nprompts = [\n", 2, "Invalid value"),
    ],
)
def test_broken_toml_is_named_with_its_line(tmp_path, text, line, problem):
    path = tmp_path / "specprof.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        find(tmp_path)
    assert str(caught.value) == f"`{path}:{line}` is not TOML: {problem}"


def test_settings_that_are_not_utf8_are_refused(tmp_path):
    (tmp_path / "specprof.toml").write_bytes(b"[run]\nmodel = '\xff'\n")
    with pytest.raises(UsageError, match=r"specprof\.toml` is not UTF-8: bad byte at offset 15"):
        find(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "keys", "line"),
    [
        ("specprof.toml", "[report]\nk = 0\n[run]\n'k' = 1\n", ("run", "k"), 4),
        ("specprof.toml", "# run\n\nrun.k = 1\n", ("run", "k"), 3),
        ("specprof.toml", "\nrun = {k = 1}\n", ("run", "k"), 2),
        ("pyproject.toml", "[project]\nk = 1\n[tool.specprof.run]\nk = 1\n", ("run", "k"), 4),
        ("pyproject.toml", "[tool.specprof]\nrun.k = 1\n", ("run", "k"), 2),
    ],
)
def test_the_line_of_a_key_is_found_in_every_way_of_writing_it(tmp_path, name, text, keys, line):
    (tmp_path / name).write_text(text)
    assert find(tmp_path).place(*keys) == f"{tmp_path / name}:{line}"


def test_the_line_of_a_key_in_the_second_of_repeated_tables_is_found(tmp_path):
    (tmp_path / "specprof.toml").write_text("[[tasks]]\ntask = 'a'\n[[tasks]]\ntask = 'b'\n")
    assert find(tmp_path).place("tasks", "task", nth=1) == f"{tmp_path / 'specprof.toml'}:4"
