"""Sentences and words of English; the expected values are those of nltk 3.10.4 with its English Punkt parameters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.punkt_english import load_punkt_model, split_sentences
from flagmm.metrics.treebank_words import split_words


def test_the_parameters_are_those_of_punkt_tab():
    model = load_punkt_model()
    sizes = [len(table) for table in (model.abbreviations, model.collocations, model.starters, model.contexts)]
    assert sizes == [156, 37, 39, 20366]


@pytest.mark.parametrize(
    "sentences",
    [
        ["Dr. Smith went home.", "He was tired."],  # an abbreviation, then a plain end
        ["J. Smith and J. K. Rowling met.", "They left."],  # initials
        ["He lives in the U.S. and works.", "Yes!"],
        ["He lives in the U.S.", "However, he left."],  # "however" often opens a sentence
        ["It is 5. of a kind."],
        ["It costs $3.50 at 5 p.m. on Monday.", "Fine."],
        ["It is no.", "5 in the list."],  # "no." is an answer more often than a number
        ["Really?!", "Yes..."],
        ["Wait... what?", "No."],
        ["(He left.)", "She stayed."],  # the bracket goes with the sentence that it closes
        ['He said "Go."', "Then he went."],
        ["He said “Go.”", "Then he went."],
        ["one.two three"],
        ["end.", "Next"],
    ],
    ids=lambda sentences: sentences[0],
)
def test_sentences_are_split_as_punkt_does(sentences):
    assert split_sentences(" ".join(sentences)) == sentences


@pytest.mark.parametrize("text", ["", "   ", "\n\t "])
def test_blank_text_has_no_sentences_and_no_words(text):
    assert split_sentences(text) == []
    assert split_words(text) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I don't, she'll; cannot wanna.", "I do n't , she 'll ; can not wan na ."),
        ("The U.S. is big.", "The U.S. is big ."),
        ("end.Start now.", "end.Start now ."),
        ('He said "yes" (twice).', "He said `` yes '' ( twice ) ."),
        ('"Yes" he said', "`` Yes '' he said"),
        ("the dogs' bowls, at 10:30, cost $3.50", "the dogs ' bowls , at 10:30 , cost $ 3.50"),
        ("Tom's 50% off -- now!", "Tom 's 50 % off -- now !"),
        ("'tis “quoted” text…", "' tis “ quoted ” text…"),
        ("wait...", "wait ..."),
        ("a,,b", "a , ,b"),  # the second comma was taken as what follows the first
        ('line one\n"line two"', "line one '' line two ''"),  # only a blank opens a quotation
        ("Yes. ] )", "Yes . ] )"),  # closers after the last period, even apart
        ('Yes. " )', "Yes. `` )"),  # but this quote opens
        ("Tesla", "Tesla"),
        ("gotta", "got ta"),
    ],
)
def test_words_are_cut_as_nltk_does(text, words):
    assert split_words(text) == words.split()


@given(st.text())
def test_any_text_can_be_cut(text):
    assert all(word and word.split() == [word] for word in split_words(text))


@given(st.text(alphabet="aB1 .,?!'\"()\n", max_size=40))
def test_sentences_keep_every_character_but_the_space_between_them(text):
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())
