"""The gold check opens every medium that it can, so that what a run could not send is told before."""

from __future__ import annotations

import base64
import json
import struct

import pytest

from flagmm.checking import check_task
from flagmm.config.task import load_task
from tests.end_to_end.folders import write_picture
from tests.media.test_video import make_video

FORMAT = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
WAV = b"RIFF" + struct.pack("<I", 36) + b"WAVE" + FORMAT + b"data" + struct.pack("<I", 4) + bytes(4)
EMPTY_WAV = b"RIFF" + struct.pack("<I", 36) + b"WAVE" + FORMAT + b"data" + bytes(4)


@pytest.fixture(scope="module")
def media(tmp_path_factory):
    folder = tmp_path_factory.mktemp("media")
    video = make_video(folder / "good.mp4").read_bytes()
    broken = {
        "cut.mp4": video[: len(video) // 2],
        "end.mp4": video[:-2000],
        "text.mp4": b"not a video " * 9,
        "empty.mp4": b"",
        "picture.mp4": write_picture(folder / "a.png").read_bytes(),
        "head.mp4": video[:40] + b"\xaa" * 3000,
    }
    for name, data in {**broken, "s.wav": WAV, "none.wav": EMPTY_WAV, "video.jpg": video}.items():
        (folder / name).write_bytes(data)
    return folder


def problems(task):
    return check_task(load_task(task)).problems


def item(number, **fields):
    return {"question_id": number, "question": "Q?", "question_type": "yes-no", "answer": "yes", **fields}


def check(tmp_path, media, *items, kind="VqaBaseDataset"):
    (media / f"{tmp_path.name}.json").write_text(json.dumps(items))
    task = tmp_path / "t.py"
    anno = f"{tmp_path.name}.json"
    task.write_text(
        f'dataset = dict(type="{kind}", name="t", data_root="{media}", anno_file="{anno}")\n'
        'evaluator = dict(type="BaseEvaluator")\n'
    )
    return problems(task)


BROKEN = ("cut.mp4", "end.mp4", "text.mp4", "empty.mp4", "picture.mp4", "head.mp4")


def test_every_video_that_cannot_be_read_is_told(tmp_path, media):
    broken = [name for name in BROKEN if name != "picture.mp4"]  # which has one frame
    found = check(
        tmp_path, media, *(item(name, video_path=name) for name in ("good.mp4", *broken)), kind="VideoDataset"
    )
    assert [problem.partition(": video: ")[0] for problem in found] == [f"question_id {name!r}" for name in broken]
    assert all(str(media / name) in problem for name, problem in zip(broken, found, strict=True))


def test_videos_that_are_sent_as_files_are_opened_too(tmp_path, media, monkeypatch):
    monkeypatch.setenv("LMUData", str(tmp_path / "lmu"))
    rows = [f"{name}\tQ?\t{media / name}\tYes\n" for name in ("good.mp4", *BROKEN)]
    (tmp_path / "v.tsv").write_text("index\tquestion\tvideo\tanswer\n" + "".join(rows))
    (tmp_path / "t.py").write_text(
        f'dataset = dict(type="TsvVideoDataset", name="t", data_root="{tmp_path / "v.tsv"}")\n'
        'evaluator = dict(type="TsvEvaluator")\n'
    )
    found = problems(tmp_path / "t.py")
    assert [problem.partition(": video: ")[0] for problem in found] == [f"question_id {name!r}" for name in BROKEN]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"audio_path": "none.wav"}, "none.wav: an empty sound, without samples"),
        ({"img_path": "video.jpg"}, "video.jpg: "),
        ({"video_path": "good.mp4", "video_start": 9}, "has no frames from 9 s to the end"),
        ({"img_path": "../a.png"}, "--allow-media-root"),
    ],
)
def test_other_media_that_are_not_what_they_should_be_are_told(tmp_path, media, fields, message):
    [found] = check(tmp_path, media, item(1, **fields))
    assert message in found
    assert check(tmp_path, media, item(1, audio_path="s.wav", img_path="a.png", video_path="good.mp4")) == []


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"type": "input_audio", "input_audio": {"data": "", "format": "mp3"}}, "format says mp3, and the bytes are"),
        ({"type": "video_url", "video_url": {"url": "good.mp4", "format": "avi"}}, "format says avi, and the bytes"),
        ({"type": "video_url", "video_url": {"url": "good.mp4", "start": 1}}, "a file is sent whole"),
    ],
)
def test_records_whose_media_are_not_what_they_say_are_told(tmp_path, media, part, message):
    if "input_audio" in part:
        part["input_audio"]["data"] = base64.b64encode(WAV).decode()
    (tmp_path / "good.mp4").write_bytes((media / "good.mp4").read_bytes())
    record = {"messages": [{"role": "user", "content": [part]}], "answer": "x"}
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n")
    (tmp_path / "t.py").write_text(
        f'dataset = dict(type="GeneralVqaDataset", name="t", data_root="{tmp_path / "a.jsonl"}")\n'
    )
    [found] = problems(tmp_path / "t.py")
    assert message in found
