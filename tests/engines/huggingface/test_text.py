import pytest

from specprof.engines.huggingface import HuggingFaceEngine
from specprof.errors import BadRecordError
from specprof.records import Prompt

pytest.importorskip("transformers", reason="needs the extra `hf`")

TEMPLATE = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system here') }}{% endif %}"
    "w2 {{ m.content }} w3 {% endfor %}{% if add_generation_prompt %}w4{% endif %}"
)
CHAT = Prompt(id="c", task="t", messages=({"role": "user", "content": "w7 w8"},), place="chat.jsonl:3")
RAW = Prompt(id="r", task="t", text="w7 w8")


@pytest.fixture
def chat_model(edited):
    return edited("tokenizer_config.json", chat_template=TEMPLATE)


def engine(bench, model):
    made = HuggingFaceEngine()
    made.check(bench.config(bench.arm("prompt_lookup"), model=model, save_text=True))
    return made


def test_chat_goes_through_the_template_and_raw_text_stays_as_it_is(bench, chat_model):
    jobs = [bench.job(bench.arm("prompt_lookup"), prompt=prompt) for prompt in (CHAT, RAW)]
    chat, raw = bench.run(*jobs, model=chat_model)
    assert (chat.prompt_text, chat.prompt_ids, chat.prompt_tokens) == ("w2 w7 w8 w3 w4", (2, 7, 8, 3, 4), 5)
    assert (raw.prompt_text, raw.prompt_ids, raw.prompt_tokens) == ("w7 w8", (7, 8), 2)
    assert (chat.labels["template"], raw.labels["template"]) == ("chat", "raw")


def test_chat_without_a_template_is_refused_with_its_place(bench):
    with pytest.raises(BadRecordError, match=r"`chat\.jsonl:3` is a chat record, and the model has no chat template"):
        engine(bench, bench.folders["target"]).check_prompts([RAW, CHAT])


def test_raw_prompts_need_no_template(bench):
    engine(bench, bench.folders["target"]).check_prompts([RAW])


def test_messages_that_the_template_refuses_are_told_with_their_place(bench, chat_model):
    system = Prompt(id="s", task="t", messages=({"role": "system", "content": "w5"},), place="chat.jsonl:9")
    with pytest.raises(
        BadRecordError, match=r"`chat\.jsonl:9` is refused by the model's chat template: no system here"
    ):
        engine(bench, chat_model).check_prompts([CHAT, system])
