"""The embedded model on real pictures, read by the real engine."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from PIL import Image, ImageDraw, ImageFont

from flagmm.errors import MissingExtraError, ModelError
from flagmm.models.ocr import MAX_SIDE, OcrClient, Reader, load_engine, load_pixels
from flagmm.registry import MODELS
from flagmm.types import CallSettings, ImagePart, MediaSource, Message, ModelOutput, TextPart, VideoPart

ROWS = [("Bread", "2.10"), ("Butter", "3.40"), ("TOTAL", "5.50")]


def draw(rows, *, size=(360, 200), mode="RGB"):
    picture = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(picture)
    for number, (left, right) in enumerate(rows):
        pen.text((20, 20 + 50 * number), left, font=ImageFont.load_default(26), fill="black")
        pen.text((250, 20 + 50 * number), right, font=ImageFont.load_default(26), fill="black")
    return picture.convert(mode)


def png(picture, **options):
    file = io.BytesIO()
    picture.save(file, "PNG", **options)
    return file.getvalue()


def source(rows, **how):
    return MediaSource(data=png(draw(rows, **how)))


def ask(messages, *, num_workers=2, **settings):
    async def run():
        async with OcrClient(SimpleNamespace(model_name="ocr", num_workers=num_workers)) as client:
            return await client.generate(messages, CallSettings(question_id="1", **settings))

    return asyncio.run(run())


def user(text, *sources):
    return Message(role="user", content=(*(ImagePart(source=one) for one in sources), TextPart(text=text)))


@pytest.fixture(scope="module")
def reader():
    pytest.importorskip("rapidocr")
    return Reader()


def test_the_registry_knows_it_by_its_model_type():
    assert MODELS.lookup("ocr") is OcrClient


def test_a_picture_in_a_file_is_read_in_reading_order(reader, tmp_path):
    path = tmp_path / "receipt.png"
    draw(ROWS).save(path)
    assert reader.read(MediaSource(path=str(path))) == "Bread 2.10\nButter 3.40\nTOTAL 5.50"


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "CMYK"])
def test_pictures_of_every_mode_are_read(reader, mode):
    file = io.BytesIO()
    draw(ROWS[:1], mode=mode).save(file, "TIFF")
    assert reader.read(MediaSource(data=file.getvalue())) == "Bread 2.10"


@pytest.mark.parametrize("size", [(1, 1), (3, 900), (300, 200)])
def test_a_picture_without_text_is_empty_and_no_error(reader, size):
    assert reader.read(MediaSource(data=png(Image.new("RGB", size, "white")))) == ""


def test_one_engine_reads_in_two_threads_as_in_one(reader):
    sources = [source([(f"Item {number}", f"{number}.50")]) for number in range(6)]

    async def read_all():
        return await asyncio.gather(*(asyncio.to_thread(reader.read, one) for one in sources))

    assert asyncio.run(read_all()) == [reader.read(one) for one in sources]


def test_a_choice_is_answered_by_its_letter():
    output = ask([user("What is the total?", source(ROWS))], options=("2.10", "5.50"), question_type="multiple-choice")
    assert output == ModelOutput(text="B", finish_reason="stop")


def test_only_the_last_user_message_is_looked_at():
    messages = [
        user("What is the total?", source([("TOTAL", "9.99")])),
        Message(role="assistant", content=(TextPart(text="9.99"),)),
        user("And what is the total?", source(ROWS)),
    ]
    assert ask(messages).text == "5.50"


def test_a_question_without_pictures_gets_an_empty_answer():
    assert ask([user("What is the total?")]).text == ""


def test_the_event_loop_stays_free_while_pictures_are_read():
    async def run():
        async with OcrClient(SimpleNamespace(model_name="ocr", num_workers=1)) as client:
            asked = asyncio.create_task(
                client.generate([user("What is the total?", source(ROWS))], CallSettings(question_id="1"))
            )
            turns = 0
            while not asked.done():
                await asyncio.sleep(0.001)
                turns += 1
            return turns

    assert asyncio.run(run()) > 20


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"no picture", "known format"), (b"", "empty"), (png(draw(ROWS))[:400], "broken"), (None, "No such file")],
    ids=["text", "empty", "cut off", "missing"],
)
def test_an_unreadable_picture_is_a_media_error_that_names_the_file(tmp_path, content, reason):
    path = tmp_path / "shop.png"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError, match=rf"shop\.png: .*{reason}") as caught:
        load_pixels(MediaSource(path=str(path)))
    assert caught.value.kind == "media"


@pytest.mark.parametrize(
    "part",
    [
        ImagePart(source=MediaSource(url="https://example.org/a.png")),
        VideoPart(source=MediaSource(path="a.mp4")),
    ],
    ids=["url", "video"],
)
def test_what_it_cannot_look_at_is_a_media_error(part):
    with pytest.raises(ModelError, match="embedded model reads") as caught:
        ask([Message(role="user", content=(part,))])
    assert caught.value.kind == "media"


def test_pixels_are_upright_on_white_and_blue_first():
    turned = Image.new("RGBA", (40, 20), (255, 0, 0, 255))
    turned.putpixel((0, 0), (0, 0, 0, 0))
    exif = Image.Exif()
    exif[0x0112] = 6
    pixels = load_pixels(MediaSource(data=png(turned, exif=exif)))
    assert pixels.shape == (40, 20, 3)
    assert pixels[0, 19].tolist() == [255, 255, 255]
    assert pixels[5, 5].tolist() == [0, 0, 255]


def test_only_very_large_pictures_are_shrunk():
    assert load_pixels(MediaSource(data=png(Image.new("L", (MAX_SIDE, 10))))).shape[:2] == (10, MAX_SIDE)
    assert load_pixels(MediaSource(data=png(Image.new("L", (2 * MAX_SIDE, 10))))).shape[:2] == (5, MAX_SIDE)


def test_a_missing_package_is_named_with_its_extra():
    with pytest.raises(MissingExtraError, match=r"'no_such_reader': pip install 'flagmm\[ocr\]'"):
        load_engine(["no_such_reader"])


def test_it_starts_without_a_network_and_says_nothing():
    pytest.importorskip("rapidocr")
    script = (
        "import logging, sys; from flagmm.models.ocr import Reader; from flagmm.types import MediaSource;"
        "before = logging.getLogger().handlers[:], logging.getLogger().level;"
        "assert Reader().read(MediaSource(data=sys.stdin.buffer.read())) == '';"
        "assert (logging.getLogger().handlers, logging.getLogger().level) == before"
    )
    nowhere = {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        input=png(Image.new("RGB", (64, 64), "white")),
        env={**os.environ, **nowhere},
        capture_output=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert logging.getLogger("RapidOCR").level in (logging.ERROR, logging.NOTSET)
