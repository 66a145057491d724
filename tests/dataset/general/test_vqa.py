"""GeneralVqaDataset: messages, placeholders, answers."""

from __future__ import annotations

import json
import logging

import pytest

from flagmm.errors import DataError
from tests.dataset.general.tables import (
    WAV,
    asked,
    parts,
    shown,
    user,
    vqa,
    write_cells,
    write_jsonl,
    write_media,
)

MEDIA = [*(f"{number}.png" for number in range(1, 8)), "s.wav", "t.mp3", "v.mp4"]


@pytest.fixture
def folder(tmp_path):
    """A folder of data with media beside them."""
    write_media(tmp_path / "data", *MEDIA)
    return tmp_path / "data"


def sample_of(folder, record, **settings):
    return vqa(write_jsonl(folder / "t.jsonl", record), **settings).build_sample(0)


def image(number):
    return ("image", f"{number}.png")


@pytest.mark.parametrize("suffix", [".jsonl", ".tsv", ".csv"])
@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        pytest.param("a<image 1>b", {"image_1": "1.png"}, ["a", image(1), "b"], id="image_k"),
        pytest.param("<image_100>", {"image_100": "1.png"}, [image(1)], id="the last k, underscore"),
        pytest.param("<video 1>", {"video_1": "v.mp4"}, [("video", "v.mp4")], id="video_k"),
        pytest.param("<audio 2>", {"audio_2": "s.wav"}, [("audio", "s.wav")], id="audio_k"),
        pytest.param("<image 2><image 1>", {"images": ["1.png", "2.png"]}, [image(2), image(1)], id="images"),
        pytest.param("<video 1>", {"videos": ["v.mp4"]}, [("video", "v.mp4")], id="videos"),
        pytest.param("<audio 2>", {"audios": ["s.wav", "t.mp3"]}, [("audio", "t.mp3")], id="audios"),
        pytest.param(
            "<image 1> twice <image 1>", {"image_1": "1.png"}, [image(1), " twice ", image(1)], id="the same twice"
        ),
        pytest.param("<image 2>", {"image_2": "2.png", "images": ["3.png"]}, [image(2)], id="indexed before the list"),
        pytest.param(
            "x <image 1>", {"image_1": "", "image_2": "2.png", "images": ["3.png"]}, ["x ", image(3)],
            id="an indexed column that is not referenced does not stop the list",
        ),
        pytest.param(
            "x <image 1><image 2>", {"image_2": "2.png", "images": ["3.png"]}, ["x ", image(2)],
            id="one that is does",
        ),
        pytest.param("x <image 101>", {"image_101": "1.png"}, ["x "], id="beyond 100"),
        pytest.param("x <image 0>", {"image_0": "1.png", "image_1": "2.png"}, ["x "], id="0"),
        pytest.param("x <image 999999999> y", {"image_1": "1.png"}, ["x ", " y"], id="a huge number"),
        pytest.param("<image 1>", {"image_1": ""}, "<image 1>", id="a text that would become empty is kept"),
        pytest.param(" <image 1> ", {}, " <image 1> ", id="with its blanks"),
        pytest.param("no tag", {"image_1": "1.png"}, "no tag", id="not referenced"),
        pytest.param("no tag", {"image_1": "nowhere.png", "images": "7"}, "no tag", id="not even looked at"),
    ],
)  # fmt: skip
def test_placeholders_are_replaced(folder, suffix, text, columns, expected):
    record = asked(text, **columns)
    path = folder / f"t{suffix}"
    write_jsonl(path, record) if suffix == ".jsonl" else write_cells(path, [record])
    assert parts(vqa(path).build_sample(0)) == expected


def test_a_list_column_is_not_capped(folder):
    record = asked("<image 250>", images=["1.png"] * 249 + ["2.png"])
    assert parts(sample_of(folder, record)) == [image(2)]


@pytest.mark.parametrize(("medium", "file", "form"), [("audio", "t.mp3", "mp3"), ("video", "v.mp4", "mov")])
def test_a_format_column_is_a_hint(folder, medium, file, form):
    sample = sample_of(folder, asked(f"<{medium} 1>", **{f"{medium}_1": file, f"{medium}_1_format": form}))
    assert sample.messages[0].content[0].format == form


def test_only_plain_user_messages_are_looked_through(folder):
    conversation = [
        {"role": "system", "content": "<image 1>"},
        user([{"type": "text", "text": "<image 1>"}]),
        {"role": "assistant", "content": "<image 1>"},
        user("<image 1>!"),
    ]
    sample = sample_of(folder, {"messages": conversation, "image_1": "1.png"})
    assert shown(sample) == [
        ("system", "<image 1>"),
        ("user", ["<image 1>"]),
        ("assistant", "<image 1>"),
        ("user", [image(1), "!"]),
    ]


def test_references_count_over_all_turns_against_the_list(folder):
    conversation = [user("<image 1> a"), {"role": "assistant", "content": "ok"}, user("<image 2> b")]
    record = {"messages": conversation, "image_2": "2.png", "images": ["3.png", "4.png"]}
    assert shown(sample_of(folder, record))[0] == ("user", [" a"])
    assert shown(sample_of(folder, record))[2] == ("user", [image(2), " b"])


def test_every_kind_of_part_is_read(folder):
    content = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "1.png", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.jpg"}},
        {"type": "image_url", "image_url": "2.png"},
        {"type": "input_audio", "input_audio": {"data": "s.wav", "format": "wav"}},
        {"type": "video_url", "video_url": {"url": "v.mp4", "fps": 2}},
        {"type": "video_url", "video_url": "https://example.com/v.mp4"},
    ]
    sample = sample_of(folder, {"messages": [user(content)]})
    assert parts(sample) == [
        "look", image(1), ("image", "https://example.com/a.jpg"), image(2), ("audio", "s.wav"), ("video", "v.mp4"),
        ("video", "https://example.com/v.mp4"),
    ]  # fmt: skip
    found = sample.messages[0].content
    assert [found[1].detail, found[2].detail] == ["low", "auto"]
    assert found[4].format == "wav"
    assert found[5].extra == {"fps": 2}


def test_null_fields_as_parquet_fills_them_in_count_as_absent(folder):
    content = [
        {"type": "text", "text": "a", "image_url": None},
        {"type": "image_url", "text": None, "image_url": {"url": "1.png", "detail": None}},
    ]
    message = {"role": "user", "content": content, "name": None}
    assert parts(sample_of(folder, {"messages": [message]})) == ["a", image(1)]


def test_tool_turns_go_as_they_are(folder):
    calls = [{"id": "c1", "type": "function", "function": {"name": "zoom", "arguments": "{}"}}]
    conversation = [
        user("zoom in"),
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": "done", "tool_call_id": "c1"},
    ]
    _, assistant, tool = sample_of(folder, {"messages": conversation}).messages
    assert (assistant.content, assistant.extra) == ((), {"tool_calls": calls})
    assert (tool.text, tool.extra) == ("done", {"tool_call_id": "c1"})


@pytest.mark.parametrize("role", ["system", "developer"])
def test_a_system_prompt_is_for_records_without_one(folder, role):
    path = write_jsonl(folder / "t.jsonl", asked("a"), {"messages": [{"role": role, "content": "Own."}, user("b")]})
    dataset = vqa(path, system_prompt="Be brief.")
    assert shown(dataset.build_sample(0)) == [("system", "Be brief."), ("user", "a")]
    assert shown(dataset.build_sample(1)) == [(role, "Own."), ("user", "b")]


DEEP = "[" * 100_000 + "]" * 100_000
HOSTILE = {
    "wrong JSON": ('{"messages": [', "t.jsonl:1"),
    "no object": ("[1]", "t.jsonl:1"),
    "messages missing": ({"answer": "x"}, "messages: expected a list of messages, found nothing"),
    "messages a number": ({"messages": 7}, "messages: expected a list of messages, found int '7'"),
    "messages an object": ({"messages": {"role": "user"}}, "messages: expected a list of messages, found dict"),
    "messages empty": ({"messages": []}, "messages: an empty list"),
    "messages broken text": ({"messages": "[{"}, "messages: not valid JSON: "),
    "messages deep": ({"messages": DEEP}, "messages: "),
    "a line deep": (f'{{"messages": {DEEP}}}', "t.jsonl:1"),
    "a message that is a text": ({"messages": ["hi"]}, "messages[0]: expected an object with 'role'"),
    "unknown role": ({"messages": [{"role": "robot", "content": "x"}]}, "messages[0]: role: unknown 'robot'; known: "),
    "role a list": ({"messages": [{"role": ["user"], "content": "x"}]}, "messages[0]: role: unknown"),
    "no content": ({"messages": [{"role": "user"}]}, "messages[0].content: expected a text or a list of parts"),
    "content empty": ({"messages": [user([])]}, "messages[0].content: expected a text or a list of parts"),
    "content a number": ({"messages": [user(7)]}, "messages[0].content: expected a text or a list of parts"),
    "unknown part": ({"messages": [user([{"type": "smell"}])]}, "messages[0].content[0]: unknown part type 'smell'"),
    "a part that is a text": ({"messages": [user(["x"])]}, "messages[0].content[0]: no object; known: text, image_url"),
    "text a number": ({"messages": [user([{"type": "text", "text": 7}])]}, "content[0].text: expected a text"),
    "no url": ({"messages": [user([{"type": "image_url", "image_url": {}}])]}, "content[0].image_url: has no 'url'"),
    "url a number": ({"messages": [user([{"type": "image_url", "image_url": 7}])]}, "image_url: expected an object"),
    "image missing": (asked("<image 1>", image_1="nowhere.png"), "image_1: 'nowhere.png': no such file"),
    "image a folder": (asked("<image 1>", image_1="sub"), "image_1: "),
    "image of null bytes": (asked("<image 1>", image_1="a\0b"), "image_1: "),
    "outside": (asked("<image 1>", image_1="/etc/passwd"), "image_1: "),
    "outside by ..": (asked("<image 1>", image_1="../../../../../../etc/passwd"), "image_1: "),
    "broken base64": (asked("<image 1>", image_1="data:image/png;base64,@@@"), "image_1: "),
    "wrong family": (asked("<image 1>", image_1="data:audio/wav;base64,UklGRg=="), "image_1: "),
    "wrong hint": (asked("<audio 1>", audio_1="s.wav", audio_1_format="flac"), "audio_1: format"),
    "list no list": (asked("<image 1>", images=7), "images: expected a list, found 7"),
    "list element": (asked("<image 2>", images=["1.png", 7]), "images[2]: "),
    "too many media": (asked("<image 1>" * 10_000, image_1="1.png"), "asks for 10000 media; at most 1000 are sent"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_row_is_a_data_error_that_names_its_line_and_its_neighbours_are_well(folder, case):
    (folder / "sub").mkdir()
    record, message = HOSTILE[case]
    dataset = vqa(write_jsonl(folder / "t.jsonl", record, asked("next")))
    with pytest.raises(DataError) as caught:
        dataset.build_sample(0)
    assert "t.jsonl:1" in str(caught.value)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 1000
    assert parts(dataset.build_sample(1)) == "next"
    assert list(dataset.get_annotation()) == ["0", "1"]
    assert dataset.get_annotation()["0"]["question_id"] == "0"


def test_ten_thousand_placeholders_in_vain_are_left_out_and_told_of_a_few_times(folder, caplog):
    text = "x" + "".join(f"<image {number}>" for number in range(1, 10_001))
    with caplog.at_level(logging.WARNING):
        assert parts(sample_of(folder, asked(text))) == ["x"]
    assert len(caplog.records) == 101


def test_a_missing_medium_is_told_once_per_index(folder, caplog):
    path = write_jsonl(folder / "t.jsonl", asked("a <image 1>"), asked("b <image 1><image 2>"), asked("c <video 1>"))
    dataset = vqa(path)
    with caplog.at_level(logging.WARNING):
        for index in (0, 1, 2, 0, 1, 2):
            dataset.build_sample(index)
    assert [message.partition("placeholder ")[2].partition(";")[0] for message in caplog.messages] == [
        "<image 1>", "<image 2>", "<video 1>",
    ]  # fmt: skip
    assert caplog.messages[0].startswith(f"{path}:1: ")


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ("Dog", "Dog"), (7, "7"), (2.50, "2.5"), (True, "True"), (["a", 1], ["a", "1"]), (" NA ", " NA "),
        ("", None), (None, None), ([], None), (["", None], None), (float("nan"), None),
    ],
)  # fmt: skip
def test_answers_are_texts_or_lists_of_texts(folder, given, answer):
    dataset = vqa(write_jsonl(folder / "t.jsonl", {"messages": [user("q")], "answer": given}))
    assert dataset.get_annotation()["0"]["answer"] == answer


def test_an_answer_may_be_missing(folder):
    assert vqa(write_jsonl(folder / "t.jsonl", {"messages": [user("q")]})).get_annotation()["0"]["answer"] is None


@pytest.mark.parametrize("answer", ["NA", "None", "null", "007", "1e5", "nan", "true", "[1]"])
@pytest.mark.parametrize("suffix", [".tsv", ".csv"])
def test_cells_of_text_tables_are_text(folder, suffix, answer):
    dataset = vqa(write_cells(folder / f"t{suffix}", [{"messages": json.dumps([user("q")]), "answer": answer}]))
    assert dataset.get_annotation()["0"]["answer"] == answer


def test_an_annotation_has_the_question_and_further_columns_but_no_media(folder):
    record = {
        "messages": [user([{"type": "text", "text": "Why "}, {"type": "image_url", "image_url": {"url": "1.png"}}])],
        "answer": "x", "image_1": "1.png", "images": ["1.png"], "audio_1_format": "wav", "category": "cats",
        "scores": [1, 2], "nested": {"a": 1}, "long": "y" * 100_000,
    }  # fmt: skip
    dataset = vqa(write_jsonl(folder / "t.jsonl", record))
    assert dataset.get_annotation()["0"] == {
        "question_id": "0", "subset": "default", "question_type": "open", "question": "Why <image 1>", "answer": "x",
        "category": "cats", "scores": [1, 2],
    }  # fmt: skip


def test_the_question_of_several_turns_names_the_roles(folder):
    conversation = [{"role": "system", "content": "S"}, user("a"), {"role": "assistant", "content": "b"}, user("c")]
    dataset = vqa(write_jsonl(folder / "t.jsonl", {"messages": conversation}))
    assert dataset.build_sample(0).question == "system: S\nuser: a\nassistant: b\nuser: c"


def test_a_sound_in_bytes_comes_out_of_a_parquet_table(folder):
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table(
        {
            "messages": [[{"role": "user", "content": "<audio 1>"}], [{"role": "user", "content": "<audio 1>"}]],
            "audio_1": [{"bytes": WAV, "path": "gone.wav"}, {"bytes": None, "path": None}],
        }
    )
    pyarrow.parquet.write_table(table, folder / "t.parquet")
    dataset = vqa(folder / "t.parquet")
    assert parts(dataset.build_sample(0)) == [("audio", WAV)]
    assert parts(dataset.build_sample(1)) == "<audio 1>"
