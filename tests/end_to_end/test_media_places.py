"""Media that data name elsewhere, and videos whose frames are asked for in VLMEvalKit's spelling, by real commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.folders import choice, counts_of, read_lines, write_model, write_picture, write_task
from tests.media.test_video import make_video
from tests.servers import MockEndpoint

WAYS = ("../../far/a.png", "link.png", "linked/a.png", "{far}/a.png")


@pytest.fixture
def endpoint():
    with MockEndpoint("B") as endpoint:
        yield endpoint


def media_of(request) -> list[str]:
    return [part["type"] for part in request.user_parts if part["type"] != "text"]


def test_a_task_sends_no_picture_from_elsewhere_without_leave(run_command, tmp_path, endpoint):
    far = write_picture(tmp_path / "far" / "a.png").parent
    task = write_task(tmp_path / "task", [choice("in", "In?", img_path="in.png")])
    data = tmp_path / "task" / "data"
    (data / "link.png").symlink_to(far / "a.png")
    (data / "linked").symlink_to(far)
    items = [choice(way, way, img_path=way.format(far=far)) for way in WAYS]
    (data / "data.json").write_text(json.dumps([choice("in", "In?", img_path="in.png"), *items]))
    model = write_model(tmp_path / "model.json", endpoint.url)
    run = ("--tasks", task, "--cfg", model, "--output-dir", "out")
    done = run_command(*run)
    assert done.status == 1
    assert [media_of(request) for request in endpoint.requests] == [["image_url"]]
    failed = [line for line in read_lines(tmp_path / "out/colours/predictions.jsonl") if line["status"] == "failed"]
    assert sorted(line["question_id"] for line in failed) == sorted(WAYS)
    assert all(line["error"]["message"].endswith(f"give --allow-media-root {far}") for line in failed)
    checked = run_command("check", task)
    assert checked.stdout.count("WRONG") == len(WAYS)
    done = run_command(*run, "--allow-media-root", far)
    assert (done.status, len(endpoint.requests)) == (0, 5), done.stderr
    assert counts_of(tmp_path / "out")["answered"] == 5
    assert "sound" in run_command("check", task, "--allow-media-root", far).stdout


def test_the_flag_reaches_a_data_set_class_of_a_tasks_own(run_command, tmp_path, endpoint):
    far = write_picture(tmp_path / "far" / "a.png").parent
    task = write_task(tmp_path / "task", [choice(1, "Which?")])
    (tmp_path / "task/data/data.json").write_text(json.dumps([choice(1, "Which?", img_path="../../far/a.png")]))
    (tmp_path / "task/own.py").write_text(
        "from flagevalmm.dataset.vqa_base_dataset import VqaBaseDataset\n"
        "from flagevalmm.registry import DATASETS\n\n\n"
        "@DATASETS.register_module()\n"
        "class Own(VqaBaseDataset):\n"
        "    def __init__(self, *, name, data_root, prompt_template=None):\n"
        "        super().__init__(name=name, data_root=data_root, prompt_template=prompt_template)\n"
    )
    text = task.read_text().replace("type='VqaBaseDataset'", "type='Own'")
    task.write_text(f"{text}register_dataset = {{'own.py': 'Own'}}\n")
    model = write_model(tmp_path / "model.json", endpoint.url)
    run = ("--tasks", task, "--cfg", model, "--output-dir", "out")
    assert run_command(*run).status == 1
    done = run_command(*run, "--allow-media-root", far)
    assert done.status == 0, done.stderr
    assert [media_of(request) for request in endpoint.requests] == [["image_url"]]


@pytest.fixture
def videos(run_command):
    """`$LMUData/v.tsv` about a video of 4 s and 100 frames, and `far.tsv` about one that a link leads to."""
    home = run_command.folder / "home" / "LMUData"
    (home / "video").mkdir(parents=True)
    far = run_command.folder / "far"
    far.mkdir()
    make_video(home / "video" / "a.mp4")
    (far / "b.mp4").write_bytes((home / "video" / "a.mp4").read_bytes())
    (home / "video" / "b.mp4").symlink_to(far / "b.mp4")
    for name, video in (("v", "a"), ("far", "b")):
        (home / f"{name}.tsv").write_text(f"index\tquestion\tA\tB\tanswer\tvideo\n1\tQ?\tred\tblue\tB\t{video}\n")
    return run_command


FILE = ["video_url"]


@pytest.mark.parametrize(
    ("flags", "entry", "sent"),
    [
        pytest.param(["--nframe", "0", "--fps", "-1"], {}, FILE, id="flags that are not set"),
        pytest.param([], {"nframe": 8, "fps": -1}, ["image_url"] * 8, id="an entry with one of both"),
        pytest.param([], {"nframe": 0, "fps": -1.0}, FILE, id="an entry with none of both"),
        pytest.param(["--fps", "1"], {"nframe": 0, "fps": -1}, ["image_url"] * 4, id="a flag where the entry has none"),
        pytest.param(["--nframe", "2"], {"fps": 1}, ["image_url"] * 4, id="the entry before the flag"),
    ],
)
def test_what_is_not_set_sends_the_video(videos, endpoint, flags, entry, sent):
    given = ("--data-config", json.dumps({"v": {"dataset": "v", **entry}}))
    done = videos("vlmeval", *given, "--model", "m", "--base-url", endpoint.url, *flags)
    assert done.status == 0, done.stderr
    assert [media_of(request) for request in endpoint.requests] == [sent]


def test_the_old_backend_has_the_same_not_set(videos, endpoint):
    config = {
        "eval_backend": "VLMEvalKit",
        "allow_media_roots": ["far"],
        "eval_config": {
            "model": [{"type": "m", "name": "CustomAPIModel", "api_base": endpoint.url, "key": "EMPTY"}],
            "data": ["v", "far"],
            "nframe": 0,
            "fps": -1,
        },
    }
    Path(videos.folder / "config.json").write_text(json.dumps(config))
    Path(videos.folder / "run.py").write_text("from flagmm import run_task\n\nrun_task('config.json')\n")
    done = type(videos)(videos.folder, [videos.argv[0]])("run.py")
    assert done.status == 0, done.stderr
    assert [media_of(request) for request in endpoint.requests] == [FILE, FILE]


def test_a_table_sends_no_video_from_elsewhere_without_leave(videos, endpoint):
    run = ("vlmeval", "--data", "far", "--model", "m", "--base-url", endpoint.url)
    done = videos(*run)
    assert (done.status, endpoint.requests) == (1, [])
    [predictions] = videos.folder.glob("outputs/m/T*/far/predictions.jsonl")
    [failed] = read_lines(predictions)
    assert failed["error"]["message"].endswith(f"give --allow-media-root {videos.folder / 'far'}")
    assert videos(*run, "--allow-media-root", "far").status == 0
    assert [media_of(request) for request in endpoint.requests] == [FILE]
