"""The data sets of VLMEvalKit's tables: every column, how the kind is chosen, and what a faulty row says."""

from __future__ import annotations

import pytest

from flagmm.dataset.tsv import TsvDataset, TsvMcqDataset, TsvVideoDataset, TsvVqaDataset, TsvYesNoDataset
from flagmm.errors import ConfigError, DataError
from flagmm.types import ROW_ERROR, VideoPart
from tests.dataset.tsv.tables import encoded, mcq, picture, pictures, shown, write_table

REQUEST = "Please select the correct answer from the options above. \n"
CHOICE = f"Question: Which?\nOptions:\nA. one\nB. two\n{REQUEST}"
MP4 = b"\x00\x00\x00\x14ftypmp42\x00\x00\x00\x00mp42" + b"\x00\x00\x00\x10mdat" + bytes(8)


def table(lmu, *rows, kind=TsvDataset, **settings):
    write_table(lmu / "t.tsv", *rows)
    return kind(name="t", **settings)


def asked(lmu, *rows, number=0, **settings):
    return shown(table(lmu, *rows, **settings).build_sample(number))


def vqa(index="1", **cells):
    return {"index": index, "question": "What?", "answer": "x", **cells}


@pytest.mark.parametrize(
    ("rows", "kind", "question_type"),
    [
        pytest.param([mcq()], "mcq", "multiple-choice", id="A and B"),
        pytest.param([vqa()], "vqa", "open", id="neither"),
        pytest.param([{**vqa(), "A": "a"}], "vqa", "open", id="A alone"),
        pytest.param([vqa(answer="Yes"), vqa("2", answer="no")], "yes-no", "yes-no", id="answers are yes or no"),
        pytest.param([vqa(answer="Yes"), vqa("2", answer="three")], "vqa", "open", id="one answer is neither"),
        pytest.param([mcq(answer="Yes")], "mcq", "multiple-choice", id="options go before answers"),
    ],
)
def test_the_columns_decide_the_kind(lmu, rows, kind, question_type):
    dataset = table(lmu, *rows)
    assert (dataset.kind, dataset.build_sample(0).question_type) == (kind, question_type)
    assert dataset.get_annotation()["1"]["question_type"] == question_type


@pytest.mark.parametrize(
    ("kind", "text"),
    [(TsvMcqDataset, "Question: What?\n"), (TsvVqaDataset, "What?"), (TsvYesNoDataset, "What?")],
)
def test_a_class_fixes_the_kind(lmu, kind, text):
    assert asked(lmu, vqa(), kind=kind) == [text]


def test_a_kind_that_is_unknown_or_contradicts_the_class_is_refused(lmu):
    with pytest.raises(ConfigError, match="kind: expected one of mcq, vqa, yes-no, video, found 'mt'"):
        TsvDataset(name="t", kind="mt")
    with pytest.raises(ConfigError, match="kind: expected one of mcq, found 'vqa'"):
        TsvMcqDataset(name="t", kind="vqa")


def test_a_text_only_table_sends_a_text(lmu):
    dataset = table(lmu, mcq(hint="Count."))
    assert shown(dataset.build_sample(0)) == [f"Hint: Count.\n{CHOICE}"]
    assert dataset.build_sample(0).options == ("one", "two")


def test_free_answers_may_be_asked_for_in_short(lmu):
    assert asked(lmu, vqa(), short_answer=True) == ["What?\nAnswer the question using a single word or phrase."]


@pytest.mark.parametrize("text", ["None", "NA", "null", "nan", "N/A", "007", "1e5", "1.0", " x", "-"])
def test_an_option_is_the_text_of_its_cell(lmu, text):
    assert asked(lmu, mcq(B=text)) == [CHOICE.replace("B. two", f"B. {text}")]


def test_a_hole_among_the_options_stays_one_and_the_letters_stay(lmu):
    dataset = table(lmu, mcq(B="", C="three", Z="last"))
    assert shown(dataset.build_sample(0)) == [f"Question: Which?\nOptions:\nA. one\nC. three\nZ. last\n{REQUEST}"]
    annotation = dataset.get_annotation()["1"]
    assert (annotation["options"], annotation["option_labels"]) == (["one", "three", "last"], ["A", "C", "Z"])


def test_known_columns_are_found_in_any_case_but_options_are_capital(lmu):
    row = {"Index": "7", "QUESTION": "Which?", "A": "one", "B": "two", "a": "no option", "Answer": "B"}
    dataset = table(lmu, row)
    assert dataset.question_id_at(0) == "7"
    assert shown(dataset.build_sample(0)) == [CHOICE]
    assert dataset.get_annotation()["7"]["answer"] == "B"


def test_pictures_come_first_then_the_text(lmu):
    assert asked(lmu, mcq(image=encoded("red"))) == [picture("red"), CHOICE]
    two = str([encoded("red"), encoded("blue", "JPEG")])
    assert asked(lmu, mcq(image=two)) == [picture("red"), picture("blue", "JPEG"), CHOICE]


def test_a_data_uri_is_read_too(lmu):
    assert asked(lmu, mcq(image=f"data:image/png;base64,{encoded('red')}")) == [picture("red"), CHOICE]


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("<image 1> or <image 2>?", ["", 0, " or ", 1, "?"]),
        ("Is it <image_2>?", [0, "Is it ", 1, "?"]),
        ("Is it <image 3>?", [0, 1, "Is it <image 3>?"]),
    ],
)
def test_pictures_stand_where_the_question_says_so(lmu, question, order):
    colours = [picture("red"), picture("blue")]
    row = vqa(question=question, image=str([encoded("red"), encoded("blue")]))
    wanted = [colours[part] if isinstance(part, int) else part for part in order if part != ""]
    assert asked(lmu, row) == wanted


def test_a_short_cell_means_the_pictures_of_the_row_it_names(lmu):
    rows = [
        mcq("r-1", image=str([encoded("red"), encoded("blue")])),
        mcq("r-2", image="r-1"),
        mcq("3", image=encoded("green")),
        mcq("4", image="3"),
    ]
    assert asked(lmu, *rows, number=1)[:-1] == [picture("red"), picture("blue")]
    assert asked(lmu, *rows, number=3)[:-1] == [picture("green")]
    dataset = table(lmu, *rows)
    assert pictures(dataset.build_sample(2))[0].path == pictures(dataset.build_sample(3))[0].path


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        pytest.param({"2": "9"}, "no row has that index", id="missing"),
        pytest.param({"2": "2"}, "in a circle", id="itself"),
        pytest.param({"2": "3", "3": "2"}, "in a circle", id="each other"),
        pytest.param({"2": "A" * 65}, "image: no picture in base64|broken base64", id="no picture"),
        pytest.param({"2": "%" * 70}, "image: broken base64", id="no base64"),
    ],
)
def test_a_row_without_a_picture_to_be_had_fails_alone(lmu, cells, message):
    rows = [mcq("1", image=encoded("red")), *(mcq(index, image=cell) for index, cell in cells.items())]
    dataset = table(lmu, *rows)
    with pytest.raises(DataError, match=rf"t\.tsv:3: .*({message})"):
        dataset.build_sample(1)
    assert shown(dataset.build_sample(0)) == [picture("red"), CHOICE]


def test_rows_without_a_picture_are_left_out_with_a_word_unless_asked_for(lmu, caplog):
    rows = [mcq("1", image=encoded("red")), mcq("2", image=""), mcq("3", image="1")]
    dataset = table(lmu, *rows)
    assert [dataset.question_id_at(number) for number in range(len(dataset))] == ["1", "3"]
    assert "1 rows have no picture" in caplog.text
    assert asked(lmu, *rows, number=1, skip_noimg=False) == [CHOICE]


def test_paths_are_absolute_or_below_lmudata_or_beside_the_table(lmu, tmp_path):
    for folder, colour in ((tmp_path / "far", "red"), (lmu / "images" / "t", "blue"), (tmp_path / "beside", "green")):
        folder.mkdir(parents=True)
        (folder / f"{colour}.png").write_bytes(picture(colour))
    rows = [
        vqa("1", image_path=str(tmp_path / "far" / "red.png")),
        vqa("2", image_path="blue.png"),
        vqa("3", image_path="['green.png', 'blue.png']"),
        vqa("4", image_path="https://example.org/a.png"),
        vqa("5", image_path="black.png"),
        vqa("6", image_path="../far/red.png"),
    ]
    write_table(tmp_path / "beside" / "t.tsv", *rows)
    dataset = TsvDataset(name="x", data_root=str(tmp_path / "beside" / "t.tsv"))
    found = [shown(dataset.build_sample(number))[:-1] for number in range(4)]
    red, blue, green = picture("red"), picture("blue"), picture("green")
    assert found == [[red], [blue], [green, blue], ["https://example.org/a.png"]]
    for number in (4, 5):
        with pytest.raises(DataError, match=rf"t\.tsv:{number + 2}: image_path: .*no such file, neither in"):
            dataset.build_sample(number)


def test_the_annotation_has_the_rows_columns_but_for_pictures(lmu):
    row = mcq("5", image=encoded("red"), hint="h", category="c", split="dev", g_index="5", source="web")
    annotation = table(lmu, {**row, "l2-category": "l2"}).get_annotation()["5"]
    wanted = {"index": "5", "hint": "h", "category": "c", "l2-category": "l2", "split": "dev", "g_index": "5"}
    assert {**annotation, **wanted, "source": "web", "answer": "A"} == annotation
    assert "image" not in annotation


@pytest.mark.parametrize(
    ("cell", "answer"),
    [("cat", "cat"), ("['cat', 'a cat']", ["cat", "a cat"]), ("[7]", "7"), ("", None), ("__import__('os')",) * 2],
)
def test_a_free_answer_may_be_a_list_and_is_never_run(lmu, cell, answer):
    assert table(lmu, vqa(answer=cell), kind=TsvVqaDataset).get_annotation()["1"]["answer"] == answer


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question\tA\n1\t2\n", r"t\.tsv: no column 'index'; the columns are question, A"),
        ("index\tA\n1\t2\n", r"t\.tsv: no column 'question'"),
        ("index\tquestion\n", r"t\.tsv: no row to ask"),
        ("index\tquestion\timage\n1\ta\t\n", "no row to ask; skip_noimg=False asks rows without a picture"),
        ("index\tquestion\n1\ta\n2\tb\n1\tc\n", r"t\.tsv:2 and .*t\.tsv:4 have the same index '1'"),
    ],
)
def test_a_table_that_is_none_is_refused(lmu, text, message):
    lmu.mkdir()
    (lmu / "t.tsv").write_text(text)
    with pytest.raises(DataError, match=message):
        TsvDataset(name="t")


def test_a_broken_row_fails_alone_and_counts_as_one_with_an_answer(lmu):
    lmu.mkdir()
    (lmu / "t.tsv").write_text("index\tquestion\tA\tB\tanswer\n1\tq\tx\ty\tA\n2\tq\tx\ty\tA\tmore\n\tq\tx\ty\tB\n")
    dataset = TsvDataset(name="t")
    assert [dataset.question_id_at(number) for number in range(3)] == ["1", "row 2", "row 3"]
    with pytest.raises(DataError, match=r"t\.tsv:3: 6 cells, but the header names 5 columns"):
        dataset.build_sample(1)
    with pytest.raises(DataError, match=r"t\.tsv:4: index: is empty"):
        dataset.build_sample(2)
    assert ROW_ERROR in dataset.get_annotation()["row 2"]


def video(lmu, settings, **cells):
    (lmu / "video").mkdir(parents=True, exist_ok=True)
    (lmu / "video" / "v1.mp4").write_bytes(MP4)
    row = {"index": "1", "question": "Which?", "video": "v1", **cells}
    return table(lmu, row, kind=TsvVideoDataset, **settings).build_sample(0)


@pytest.mark.parametrize(
    ("settings", "mode", "extra"),
    [
        ({}, "file", {}),
        ({"nframe": 8}, "frames", {"nframe": 8}),
        ({"fps": 0.5}, "frames", {"frame_rate": 0.5}),
        ({"nframe": 0}, "file", {}),
        ({"fps": -1}, "file", {}),
        ({"nframe": 0, "fps": -1.0}, "file", {}),
        ({"nframe": 8, "fps": -1}, "frames", {"nframe": 8}),
        ({"nframe": -1, "fps": 2}, "frames", {"frame_rate": 2}),
        ({"nframe": None, "fps": 0}, "file", {}),
    ],
)
def test_a_video_comes_before_its_question(lmu, settings, mode, extra):
    sample = video(lmu, settings, A="one", B="two")
    part, text = sample.messages[0].content
    assert (type(part), part.mode, dict(part.extra), text.text) == (VideoPart, mode, extra, CHOICE)
    assert part.source.path == str(lmu / "video" / "v1.mp4")


def test_a_row_may_ask_about_a_part_of_its_video(lmu):
    part = video(lmu, {"nframe": 2}, video_start="1.5", video_end="3").messages[0].content[0]
    assert part.extra == {"nframe": 2, "start": 1.5, "end": 3}
    for cells in ({"video_start": "soon"}, {"video_end": "-1"}, {"video_start": "nan"}):
        with pytest.raises(DataError, match=r"t\.tsv:2: video_(start|end): expected seconds, found"):
            video(lmu, {}, **cells)
    with pytest.raises(DataError, match=r"t\.tsv:2: video_end 1 is before video_start 2"):
        video(lmu, {}, video_start="2", video_end="1")


def test_a_video_may_have_a_list_of_candidates_a_path_and_subtitles(lmu):
    lmu.mkdir()
    (lmu / "v.srt").write_text(
        "1\n00:00:01,000 --> 00:00:02,500\n<i>Hello</i>\nthere\n\n2\n00:00:03,000 --> 0\n2 cats\n"
    )
    cells = {"candidates": "['A. one', 'two']", "video_path": "video/v1.mp4", "subtitle_path": "v.srt", "video": "v9"}
    text = video(lmu, {"use_subtitle": True}, **cells).messages[0].content[1].text
    assert text == f"These are the subtitles of the video:\nHello there 2 cats\n{CHOICE}"


def test_a_video_that_is_not_there_and_contradicting_settings_are_told(lmu):
    with pytest.raises(DataError, match=r"t\.tsv:2: video: 'v2': no such file"):
        video(lmu, {}, video="v2")
    with pytest.raises(ConfigError, match=r"nframe is 8 and fps 1\.0; give one of them"):
        video(lmu, {"nframe": 8, "fps": 1.0})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_rate_that_is_no_number_is_told(lmu, value):
    with pytest.raises(ConfigError, match=r"fps is -?(nan|inf); give a number above 0"):
        video(lmu, {"fps": value})


@pytest.mark.parametrize("way", ["dots", "link", "linked folder"])
@pytest.mark.parametrize("medium", ["image_path", "video"])
def test_what_leads_out_of_the_tables_folders_is_refused_unless_allowed(lmu, tmp_path, way, medium):
    far = tmp_path / "far"
    far.mkdir()
    (far / "red.png").write_bytes(picture("red"))
    home = lmu / "images" / "t"
    home.mkdir(parents=True)
    (home / "link.png").symlink_to(far / "red.png")
    (lmu / "linked").symlink_to(far)
    path = {"dots": "../../../far/red.png", "link": "link.png", "linked folder": "linked/red.png"}[way]
    row = vqa("1", **{medium: path})
    with pytest.raises(DataError, match=rf"t\.tsv:2: {medium}: .*leads outside .*--allow-media-root {far}$"):
        table(lmu, row).build_sample(0)
    found = table(lmu, row, allow_media_roots=[str(far)]).build_sample(0).messages[0].content[0]
    assert (far / "red.png").samefile(found.source.path)


@pytest.mark.parametrize("linked", ["", "images", "images/t"])
def test_the_folder_of_tables_and_its_pictures_may_be_links(lmu, tmp_path, linked):
    real = tmp_path / "real" / linked
    (real / "images/t".removeprefix(linked).lstrip("/")).mkdir(parents=True, exist_ok=True)
    (lmu / linked).parent.mkdir(parents=True, exist_ok=True)
    (lmu / linked).symlink_to(real)
    (lmu / "images" / "t" / "red.png").write_bytes(picture("red"))
    assert asked(lmu, vqa("1", image_path="red.png"))[0] == picture("red")


def test_absolute_paths_elsewhere_are_said_once(lmu, tmp_path, caplog):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "red.png").write_bytes(picture("red"))
    (lmu / "images" / "t").mkdir(parents=True)
    (lmu / "images" / "t" / "in.png").write_bytes(picture("red"))
    paths = [lmu / "images" / "t" / "in.png", *[tmp_path / "far" / "red.png"] * 2]
    caplog.set_level("INFO")
    dataset = table(lmu, *(vqa(str(number), image_path=str(path)) for number, path in enumerate(paths)))
    assert [shown(dataset.build_sample(number))[0] for number in range(3)] == [picture("red")] * 3
    [told] = [record.getMessage() for record in caplog.records if "told once" in record.getMessage()]
    assert f"the first is {tmp_path / 'far' / 'red.png'} (told once)" in told
