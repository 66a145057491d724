"""Helpers under FlagEvalMM's names: frames of a video, pictures as base64, data prepared by themselves, prompts."""

from __future__ import annotations

import base64
import io
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from flagmm.common.video_utils import load_image_or_video
from flagmm.evaluator import pre_process
from flagmm.prompt.prompt_tools import encode_image, encode_image_old, remove_images_symbol
from flagmm.prompt.template import PromptTemplate


def test_a_picture_is_a_video_of_one_frame(tmp_path):
    Image.new("RGBA", (4, 3), (255, 0, 0, 255)).save(tmp_path / "one.png")
    frames = load_image_or_video(tmp_path / "one.png", 8, False)
    assert (frames.shape, frames.dtype, frames[0, 0, 0].tolist()) == ((1, 3, 4, 3), np.uint8, [255, 0, 0])


def test_what_is_transparent_becomes_white_in_a_jpeg(tmp_path):
    picture = Image.new("RGBA", (8, 6), (0, 0, 0, 0))
    picture.save(tmp_path / "clear.png")
    for given in (picture, str(tmp_path / "clear.png")):
        decoded = Image.open(io.BytesIO(base64.b64decode(encode_image(given))))
        assert (decoded.format, decoded.size) == ("JPEG", (8, 6))
        assert min(decoded.getpixel((0, 0))) > 250


@pytest.mark.parametrize(
    ("limits", "size"),
    [({}, (80, 60)), ({"max_long_side": 40}, (40, 30)), ({"min_short_side": 90}, (120, 90))],
)
def test_a_picture_is_brought_within_limits_where_these_are_heeded(limits, size):
    decoded = Image.open(io.BytesIO(base64.b64decode(encode_image_old(Image.new("RGB", (80, 60), "red"), **limits))))
    assert (decoded.format, decoded.size) == ("JPEG", size)


def test_a_picture_is_made_small_enough_in_bytes():
    noise = Image.effect_noise((300, 200), 90)
    assert len(encode_image_old(noise, max_size=4000)) <= 4000 < len(encode_image_old(noise))


def test_tokens_of_pictures_are_taken_out():
    assert remove_images_symbol("<image 1>Which? <image 12>") == "Which? "


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("convert_circled_numbers", "①和⑩", "1和10"),
        ("remove_special_characters", "答案: (B), c1", "B"),
        ("strip_answer", " The <Img>B</Img> ", "B"),
    ],
)
def test_texts_are_cleaned_as_there(name, given, expected):
    assert getattr(pre_process, name)(given) == expected


def test_a_template_gives_its_parts_under_their_names():
    template = PromptTemplate(prompt_func=lambda question, **kwargs: "own")
    asked = {"question": "Which?", "question_type": "multiple-choice"}
    assert template.build_prompt(**asked) == "own"
    assert template.default_prompt_func(**asked).startswith("Which?\nAnswer with the option's letter")
    hook = lambda question_type, subject, **kwargs: f"{question_type} {subject}"  # noqa: E731  # as hooks are given
    assert template.infer_prompt(prompt=hook, subject="art", **asked) == "multiple-choice art"
    assert template.infer_prompt(**asked) == ""
    assert "\\boxed{" in PromptTemplate(use_cot_math=True).build_prompt(**asked)


PROCESS = """
import json, pathlib


def process(cfg):
    folder = pathlib.Path(cfg.processed_dataset_path, cfg.split)
    folder.mkdir(parents=True)
    (folder / "data.json").write_text(json.dumps([{"question_id": 1, "question": "Q?", "question_type": "open"}]))
"""


def test_data_are_prepared_by_themselves_as_there(tmp_path):
    (tmp_path / "process.py").write_text(PROCESS)
    config = "dict(dataset_path='x', split='val', processed_dataset_path='P', processor='process.py')"
    (tmp_path / "task.py").write_text(f"config = {config}\n")
    command = [sys.executable, "-m", "flagevalmm.dataset.data_preprocessor", "-c", tmp_path / "task.py"]
    done = subprocess.run([*command, "--cache-dir", tmp_path / "cache"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "cache/P/val/data.json").is_file()
