import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.metrics.coco_caption import score_captions

KEYS = ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "CIDEr"]
CAPTIONS = st.lists(st.sampled_from(["a", "cat", "dog", "sits", ".", "1 1/2"]), max_size=6).map(" ".join)
IMAGES = st.lists(st.tuples(CAPTIONS, st.lists(CAPTIONS, min_size=1, max_size=3)), min_size=1, max_size=5)


def test_bleu_adds_up_over_the_images():
    scores = score_captions([("a cat", ["a cat"]), ("dog", ["cow"])])
    assert [image["Bleu_1"] for image in scores.images] == pytest.approx([1, 0])
    assert scores.corpus["Bleu_1"] == pytest.approx(2 / 3)
    assert scores.corpus["Bleu_2"] == pytest.approx(math.sqrt(2 / 3))  # the only pair is right


def test_the_nearest_reference_sets_the_length_and_the_shorter_of_two():
    # 2 words; references of 1 and 3 words are equally near: 1, so nothing is paid for brevity
    assert score_captions([("a cat", ["a", "a cat sits"])]).corpus["Bleu_1"] == pytest.approx(1)
    assert score_captions([("a cat", ["a cat sits"])]).corpus["Bleu_1"] == pytest.approx(math.exp(-0.5))


def test_rouge_l_takes_precision_and_recall_from_different_references():
    (image,) = score_captions([("a b c d", ["a b c d e f g h", "a b"])]).images
    assert image["ROUGE_L"] == pytest.approx(1)  # precision 1 by the first, recall 1 by the second
    (image,) = score_captions([("a b", ["a c c c"])]).images
    assert image["ROUGE_L"] == pytest.approx(2.44 * 0.5 * 0.25 / (0.25 + 1.44 * 0.5))


def test_cider_of_a_copied_caption_is_ten_where_images_share_nothing():
    scores = score_captions([("a b c d e", ["a b c d e"]), ("f g h i j", ["f g h i j"])])
    assert scores.corpus["CIDEr"] == pytest.approx(10)


def test_cider_pays_for_another_length():
    # unigrams: x against x y, of equal weight: cosine 1/sqrt(2); no longer n-gram; one pair less
    image = score_captions([("x", ["x y"]), ("", ["z"])]).images[0]
    assert image["CIDEr"] == pytest.approx(10 / 4 / math.sqrt(2) * math.exp(-1 / 72))


def test_cider_of_one_image_alone_is_zero():
    assert score_captions([("a cat", ["a cat"])]).corpus["CIDEr"] == 0


def test_an_empty_caption_scores_zero_and_two_empty_ones_are_one_empty_word_for_rouge():
    assert list(score_captions([("", ["a cat"])]).images[0].values()) == pytest.approx([0] * 6, abs=1e-9)
    assert score_captions([("", ["."])]).images[0]["ROUGE_L"] == 1


def test_an_image_without_references_scores_zero():
    assert list(score_captions([("a cat", [])]).images[0].values()) == pytest.approx([0] * 6, abs=1e-3)


def test_no_images_have_no_scores():
    scores = score_captions([])
    assert (scores.corpus, scores.images) == ({}, [])


@given(IMAGES)
@settings(max_examples=40)
def test_scores_stay_in_their_ranges(images):
    scores = score_captions(images)
    for score in (scores.corpus, *scores.images):
        assert list(score) == KEYS
        assert all(0 <= score[key] <= 1.000001 for key in KEYS[:-1])
        assert 0 <= score["CIDEr"] <= 10.000001


@given(IMAGES)
@settings(max_examples=40)
def test_the_order_of_the_images_does_not_matter(images):
    forth, back = score_captions(images), score_captions(images[::-1])
    assert forth.corpus == pytest.approx(back.corpus)
    assert forth.images == [pytest.approx(image) for image in back.images[::-1]]
