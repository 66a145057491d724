"""Numbers in real handwriting: digits that people wrote, from the scans that scikit-learn carries.

The scans are 8 by 8 pixels: E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine
Learning Repository, 1998.
"""

from __future__ import annotations

import random
from typing import Any

from draw import CLEAN, USED, photograph
from item import Item, choice, short_answer
from PIL import Image, ImageChops, ImageDraw

from flagmm.errors import MissingExtraError

SIDE = 64
QUESTION = "What number is written here?"


def load_scans() -> dict[int, list[Image.Image]]:
    """The scans by digit, as ink (255) on nothing (0)."""
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingExtraError("scikit-learn", "ocr", "the demo's handwriting") from error

    data: Any = load_digits()
    scans: dict[int, list[Image.Image]] = {digit: [] for digit in range(10)}
    for pixels, digit in zip(data.images, data.target, strict=True):
        ink = bytes(round(value * 255 / 16) for value in pixels.flatten())
        scans[int(digit)].append(Image.frombytes("L", (8, 8), ink))
    return scans


def draw_number(number: str, scans: dict[int, list[Image.Image]], seed: str) -> Image.Image:
    """A row of scans on ruled paper, each by a writer of its own."""
    rng = random.Random(seed)
    paper = Image.new("RGB", ((SIDE - 8) * len(number) + 90, 150), "#fbfaf5")
    for y in (25, 115):
        ImageDraw.Draw(paper).line((0, y, paper.width, y), fill="#c7d3e3", width=1)
    ink = Image.new("L", paper.size, 0)
    for place, digit in enumerate(number):
        scan = rng.choice(scans[int(digit)]).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        # the scans are soft: a steeper curve turns them into strokes
        stroke = scan.point(lambda value: max(0, min(255, (value - 70) * 2)))
        layer = Image.new("L", paper.size, 0)
        layer.paste(stroke, (40 + place * (SIDE - 8), 44 + rng.randint(-4, 4)))
        ink = ImageChops.lighter(ink, layer)
    paper.paste(Image.new("RGB", paper.size, "#26324f"), (0, 0), ink)
    return paper


def make_items() -> list[Item]:
    scans = load_scans()
    return [_ask(number, scans) for number in range(9)]


def _ask(number: int, scans: dict[int, list[Image.Image]]) -> Item:
    seed = f"digits-{number:02d}"
    rng = random.Random(seed)
    written = str(rng.randint(10**3, 10**5 - 1))
    image = photograph(draw_number(written, scans, seed), (CLEAN, USED)[number % 2], seed, ground="#a8a29a", margin=16)
    if number < 5:
        return short_answer(seed, QUESTION, [written], image, sub_task="handwriting")
    options = rng.sample([written, *_near_misses(written, rng)], 4)
    return choice(seed, QUESTION, options, written, image, sub_task="handwriting")


def _near_misses(number: str, rng: random.Random) -> list[str]:
    """Three numbers that differ from `number`, and from one another, in one digit."""
    misses = []
    for place in rng.sample(range(len(number)), 3):
        other = rng.choice([digit for digit in "123456789" if digit != number[place]])
        misses.append(number[:place] + other + number[place + 1 :])
    return misses
