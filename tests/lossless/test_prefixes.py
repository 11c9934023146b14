from specprof.lossless.prefixes import MOST, next_tokens, shared_prefixes


def test_next_tokens_are_counted_after_the_prefix_alone():
    answers = [(1, 2), (1, 3), (1, 2, 9), (4, 2), (1,)]
    assert next_tokens(answers, (1,)) == {2: 2, 3: 1}
    assert next_tokens(answers, ()) == {1: 4, 4: 1}


def test_a_prefix_needs_20_answers_on_both_sides_that_go_on():
    enough, few = [(1, 2)] * 20, [(1, 2)] * 19 + [(1,)]
    assert list(shared_prefixes(enough, enough)) == [(1,)]
    assert list(shared_prefixes(enough, few)) == []


def test_the_most_frequent_prefixes_of_each_length_come_first():
    answers = [(token, 0) for token in range(6) for _ in range(20 + token)]
    assert list(shared_prefixes(answers, answers)) == [(5,), (4,), (3,), (2,)][:MOST]
