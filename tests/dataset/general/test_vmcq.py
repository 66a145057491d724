"""GeneralVmcqDataset: options, media in them, the strict check, templates, shuffled choices."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.dataset.general.choices import relabel, right_answer
from flagmm.errors import ConfigError, DataError
from flagmm.metrics.general_vmcq import general_vmcq_labels
from flagmm.prompt.general_vmcq import TEMPLATES
from tests.dataset.general.tables import parts, vmcq, write_cells, write_jsonl, write_media

PLAIN = "{question}|{letters}|{choices}"


@pytest.fixture
def folder(tmp_path):
    """A folder of data with media beside them."""
    write_media(tmp_path / "data", *(f"{number}.png" for number in range(1, 6)), "s.wav", "t.mp3", "v.mp4")
    return tmp_path / "data"


def question(text="Q?", options=("a", "b"), answer="A", **columns):
    return {"question": text, "options": list(options), "answer": answer, **columns}


def only(folder, record, **settings):
    return vmcq(write_jsonl(folder / "t.jsonl", record), prompt_template=PLAIN, **settings)


def image(number):
    return ("image", f"{number}.png")


@pytest.mark.parametrize("suffix", [".jsonl", ".tsv", ".csv"])
@pytest.mark.parametrize(
    ("record", "expected"),
    [
        pytest.param(question("<image 1>?", image_1="1.png"), [image(1), "?|A,B|A) a\nB) b"], id="image_k"),
        pytest.param(
            question(options=["<image_100>", "b <video 1>"], image_100="1.png", video_1="v.mp4"),
            ["Q?|A,B|A) ", image(1), "\nB) b ", ("video", "v.mp4")], id="media in options",
        ),
        pytest.param(
            question("<audio 1>", audio_1="t.mp3", audio_1_format="mp3"), [("audio", "t.mp3"), "|A,B|A) a\nB) b"],
            id="audio_k and its format",
        ),
        pytest.param(
            question("<image 2>", images=["1.png", "2.png"]), [image(2), "|A,B|A) a\nB) b"], id="images"
        ),
        pytest.param(
            question("<video 1><audio 1>", videos=["v.mp4"], audios=["s.wav"]),
            [("video", "v.mp4"), ("audio", "s.wav"), "|A,B|A) a\nB) b"], id="videos and audios",
        ),
        pytest.param(
            question("x <image 1>", image_5="2.png", images=["1.png"]), ["x ", "|A,B|A) a\nB) b"],
            id="any filled indexed column makes the list count for nothing",
        ),
        pytest.param(
            question("x <image 101><image 0>", image_101="1.png"), ["x ", "|A,B|A) a\nB) b"], id="beyond 100, and 0"
        ),
        pytest.param(question("{x} {question}"), ["{x} {question}|A,B|A) a\nB) b"], id="braces"),
    ],
)  # fmt: skip
def test_prompts_have_their_media_in_their_places(folder, suffix, record, expected):
    path = folder / f"t{suffix}"
    write_jsonl(path, record) if suffix == ".jsonl" else write_cells(path, [record])
    assert parts(vmcq(path, prompt_template=PLAIN).build_sample(0)) == expected


@pytest.mark.parametrize("options", [["it's", "b"], '["it\'s", "b"]', "['it\\'s', 'b']"])
def test_options_are_a_list_json_or_a_python_literal(folder, options):
    sample = only(folder, {**question(), "options": options}).build_sample(0)
    assert sample.options == ("it's", "b")
    assert parts(sample) == ["Q?|A,B|A) it's\nB) b"]


def test_a_list_column_is_not_capped(folder):
    sample = only(folder, question("<image 103>", images=["1.png"] * 102 + ["2.png"])).build_sample(0)
    assert parts(sample)[0] == image(2)


def test_more_than_26_options_go_on_with_numbers(folder):
    dataset = only(folder, question(options=[f"o{number}" for number in range(30)], answer="3"))
    [text] = parts(dataset.build_sample(0))
    assert "Z) o25\n1) o26\n2) o27\n3) o28\n4) o29" in text
    assert dataset.get_annotation()["0"]["answer"] == "3"


MALFORMED = {
    "a list": ({"image_5": [1]}, "image_5: "),
    "a number": ({"image_5": 7}, "image_5: "),
    "a dict of nothing known": ({"video_5": {"file": "v.mp4"}}, "video_5: "),
    "broken base64": ({"image_5": "data:image/png;base64,@@@"}, "image_5: "),
    "another family": ({"image_5": {"bytes": None, "url": "data:audio/wav;base64,UklGRg=="}}, "image_5: "),
    "an unknown format": ({"audio_5": "s.wav", "audio_5_format": "flac"}, "audio_5: format"),
    "in the list": ({"images": ["1.png", 7]}, "images[2]: "),
    "no list": ({"videos": "v.mp4"}, "videos: expected a list"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_an_unused_malformed_column_fails_its_record_and_no_other(folder, case):
    columns, message = MALFORMED[case]
    dataset = vmcq(write_jsonl(folder / "t.jsonl", question(**columns), question("next")))
    with pytest.raises(DataError, match=re.escape(f"t.jsonl:1: {message}")):
        dataset.build_sample(0)
    assert "next" in parts(dataset.build_sample(1))[0]


@pytest.mark.parametrize(
    "columns",
    [{"image_5": None}, {"image_5": ""}, {"image_101": 7}, {"images": None}, {"image_1": "1.png", "images": 7}],
)
def test_empty_and_ignored_columns_are_not_checked(folder, columns):
    assert only(folder, question(**columns)).build_sample(0).options == ("a", "b")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"options": ["a"], "answer": "A"}, "question: missing"),
        ({"question": "q", "answer": "A"}, "options: expected a list"),
        ({"question": "q", "options": "red, green"}, "options: expected a list"),
        ({"question": "q", "options": "[" * 50_000}, "options: expected a list"),
        (question("<image 1>", image_1="nowhere.png"), "image_1: 'nowhere.png': no such file"),
        (question("<image 1>" * 10_000, image_1="1.png"), "asks for 10000 media"),
        ("{", "not valid JSON"),
    ],
)
def test_a_hostile_row_is_a_data_error_that_names_its_line(folder, record, message):
    dataset = only(folder, record)
    with pytest.raises(DataError) as caught:
        dataset.build_sample(0)
    assert "t.jsonl:1:" in str(caught.value)
    assert message in str(caught.value)
    assert dataset.get_annotation()["0"]["question_type"] == "multiple-choice"


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_go_by_name(folder, name):
    dataset = vmcq(write_jsonl(folder / "t.jsonl", question()), prompt_template=name)
    annotation = dataset.get_annotation()["0"]
    assert annotation["question_type"] == ("multiple-response" if "MULTIPLE" in name else "multiple-choice")
    assert annotation["language"] == ("chinese" if "CHINESE" in name else "english")
    assert dataset.build_sample(0).question_type == annotation["question_type"]


def test_the_template_without_one_asks_to_think_first(folder):
    dataset = vmcq(write_jsonl(folder / "t.jsonl", question()))
    assert dataset.template.text == TEMPLATES["SINGLE_ANSWER_COT"]


def test_a_wrong_template_is_an_input_error(folder):
    with pytest.raises(ConfigError, match="prompt_template"):
        vmcq(write_jsonl(folder / "t.jsonl", question()), prompt_template="SINGEL_ANSWER")


@pytest.mark.parametrize(
    ("given_answer", "multiple", "answer"),
    [
        ("b", False, "B"), (" C ", False, "C"), ("E", False, "E"), (["b"], False, "B"), (["a", "b"], False, ["A", "B"]),
        (1, False, "1"), ("", False, None), (None, False, None), ("red", False, "red"),
        ("b", True, "B"), ("CA", True, "AC"), ("c, a", True, "AC"), ("A、C", True, "AC"), (["c", "a"], True, "AC"),
        ("A, E", True, "A, E"), (None, True, None),
        ("(B)", False, "B"), ("b)", False, "B"), ("B.", False, "B"), ("Ｂ", False, "Ｂ"), ("【b】", False, "B"),
        ("C: y", False, "C"), ("C: z", False, "C: z"), ("C. y", True, "C"), ("(C) y", False, "C"), ("B x", False, "B"),
        ("Bx", False, "Bx"), ("(E)", False, "(E)"), ("(B", False, "(B"), ("x", False, "B"), (0, False, "0"),
        (["x", "c)"], False, ["B", "C"]), (["x", "(C)"], True, "BC"), ("(A), (C)", True, "AC"), ("x, z", True, "BD"),
        ("x, no", True, "x, no"),
    ],
)  # fmt: skip
def test_answers_are_labels_as_the_prompt_has_them(folder, given_answer, multiple, answer):
    record = question(options=["w", "x", "y", "z"], answer=given_answer)
    template = "MULTIPLE_ANSWER" if multiple else "SINGLE_ANSWER"
    dataset = vmcq(write_jsonl(folder / "t.jsonl", record), prompt_template=template)
    assert dataset.get_annotation()["0"]["answer"] == answer


def right_texts(annotation):
    labels = general_vmcq_labels(len(annotation["options"]))
    return {annotation["options"][labels.index(letter)] for letter in annotation["answer"]}


@pytest.mark.parametrize(
    ("template", "answer", "right"),
    [("SINGLE_ANSWER", "b", {"o1"}), ("MULTIPLE_ANSWER", "A,c", {"o0", "o2"})],
)
def test_shuffled_choices_move_prompt_and_answer_together(folder, template, answer, right):
    records = [question(f"Q{number}", options=[f"o{k}" for k in range(5)], answer=answer) for number in range(20)]
    path = write_jsonl(folder / "t.jsonl", *records)
    dataset = vmcq(path, shuffle_choices=True, prompt_template=template)
    annotations = dataset.get_annotation()
    orders = set()
    for index in range(20):
        sample, annotation = dataset.build_sample(index), annotations[str(index)]
        assert list(sample.options) == annotation["options"]
        assert right_texts(annotation) == right
        labels = general_vmcq_labels(5)
        lines = [f"{label}) {option}" for label, option in zip(labels, sample.options, strict=True)]
        assert "\n".join(lines) in parts(sample)[0]
        orders.add(sample.options)
    assert len(orders) > 5


def test_the_order_of_choices_depends_on_seed_and_id_alone(folder):
    path = write_jsonl(folder / "t.jsonl", *(question(options=list("abcdefgh"), id=name) for name in "xyz"))

    def orders(**settings):
        dataset = vmcq(path, **settings)
        samples = [dataset.build_sample(index) for index in range(len(dataset))]
        return {sample.question_id: sample.options for sample in samples}

    assert orders(shuffle_choices=True) == orders(shuffle_choices=True, shuffle=True)
    assert orders(shuffle_choices=True) == orders(shuffle_choices=42)
    assert orders(shuffle_choices=True) != orders(shuffle_choices=True, seed=1)
    assert orders(shuffle_choices=True, seed=1) == orders(shuffle_choices=1)
    assert set(orders().values()) == {tuple("abcdefgh")}


@given(st.integers(1, 40).flatmap(lambda count: st.tuples(st.permutations(range(count)), st.integers(0, count - 1))))
def test_a_relabelled_answer_names_the_same_option(case):
    order, right = case
    labels = general_vmcq_labels(len(order))
    moved = relabel(labels[right], order, multiple=False)
    assert order[labels.index(moved)] == right


@pytest.mark.parametrize(
    ("answer", "options", "value", "rule"),
    [
        ("B", ["B", "A"], "B", "label"),  # a label goes before a text
        ("dog", ["cat", "dog"], "B", "option_text"),
        ("dog", ["dog", "dog"], "dog", "no_option"),
        ("(B)", ["(B)", "x"], "(B)", "no_option"),  # the text of one option, and the label of another
        ("(A)", ["(A)", "x"], "A", "marked_label"),
        ("1", ["x", "y"], "1", "no_option"),  # from 0, or from 1?
        ("1", ["x", "1"], "B", "option_text"),
        ("1)", [f"o{number}" for number in range(30)], "1", "marked_label"),
        (["A", "dog"], ["cat", "dog"], ["A", "B"], "option_text"),
        ([], ["cat"], [], "no_option"),
    ],
)
def test_an_answer_is_read_only_where_there_is_no_doubt_about_the_option(answer, options, value, rule):
    assert right_answer(answer, options, multiple=False) == (value, rule)


def test_it_is_said_how_an_answer_was_read_that_is_no_label_alone(folder):
    path = write_jsonl(
        folder / "t.jsonl", *(question(answer=answer, label_rule="x") for answer in ("a", "(A)", "b", "?"))
    )
    annotations = vmcq(path).get_annotation()
    assert [annotation.get("label_rule") for annotation in annotations.values()] == [None, "marked_label", None, None]


texts = st.text(max_size=20) | st.text("ABab12(). ,", max_size=6)


@given(texts | st.lists(texts, max_size=4), st.lists(st.text(max_size=5), max_size=40), st.booleans())
def test_any_answer_can_be_read_and_what_names_no_option_stays(answer, options, multiple):
    found = right_answer(answer, options, multiple=multiple)
    assert relabel(found.value, range(len(options)), multiple=multiple) == found.value
    if found.rule == "no_option" and isinstance(answer, str):
        assert found.value == answer
    elif found.rule != "no_option":
        assert set("".join(found.value)) <= set("".join(general_vmcq_labels(len(options))))
