from specprof.prompts import PromptSet
from specprof.records import Prompt


def prompts(*tasks, conversation=None):
    return tuple(Prompt(id=f"{n}", task=task, text="x", conversation_id=conversation) for n, task in enumerate(tasks))


def test_a_sentence_says_what_was_read():
    found = PromptSet(prompts("a", "b", "a"), (), {"Spec-Bench": 3})
    assert found.sentence() == "read 3 prompts, Spec-Bench layout, 2 categories"


def test_one_of_each_is_said_in_the_singular():
    found = PromptSet(prompts("a"), (), {"messages": 1})
    assert found.sentence() == "read 1 prompt, messages layout, 1 task"


def test_turns_are_prompts_of_conversations():
    found = PromptSet(prompts("a", "a", conversation="c"), (), {"ShareGPT": 2})
    assert found.sentence() == "read 2 prompts of 1 conversation, ShareGPT layout, 1 task"


def test_mixed_layouts_are_counted_and_bad_records_and_settings_are_named():
    found = PromptSet(
        prompts("a", "b"), ("one", "two"), {"OpenAI batch": 1, "prompt": 1}, {"temperature": 1, "n": 1}, 2
    )
    assert found.sentence() == (
        "read 2 prompts, 1 in OpenAI batch layout + 1 in prompt layout, 2 tasks, 2 bad records left out, "
        "the answer at the end of 2 left out, "
        "settings of records not obeyed (sampling is the run's): `temperature` of 1, `n` of 1"
    )


def test_a_prompt_of_no_conversation_is_a_cluster_of_its_own_even_under_the_name_of_one():
    alone, turn = Prompt(id="c", task="a", text="x"), Prompt(id="c/0", task="a", text="x", conversation_id="c")
    assert PromptSet((alone, turn), (), {"prompt": 2}).conversations == 2
