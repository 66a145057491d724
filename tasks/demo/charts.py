"""Bar charts, lying and standing."""

from __future__ import annotations

import random
from collections.abc import Sequence

from draw import LEVELS, photograph, text_width, write
from item import Item, choice, short_answer
from PIL import Image, ImageDraw

LABELS = ("Pears", "Plums", "Figs", "Grapes", "Melons", "Quinces", "Cherries")
AXES = ("Tonnes sold", "Crates per day", "Price in euro", "Harvest in 2023")
COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756")
Bars = Sequence[tuple[str, int]]


def draw_lying_bars(title: str, bars: Bars, axis: str) -> Image.Image:
    """Labels to the left, values at the ends of the bars, the axis title below."""
    picture = Image.new("RGB", (460, 130 + 44 * len(bars)), "white")
    shapes = ImageDraw.Draw(picture)
    write(picture, (230, 14), title, size=22, anchor="ma")
    scale = 250 / max(value for _, value in bars)
    for number, (label, value) in enumerate(bars):
        top = 62 + 44 * number
        write(picture, (108, top + 14), label, size=17, anchor="rm")
        shapes.rectangle((120, top, 120 + value * scale, top + 28), fill=COLOURS[number % len(COLOURS)])
        write(picture, (130 + value * scale, top + 14), str(value), size=17, anchor="lm")
    shapes.line((120, 56, 120, picture.height - 62), fill="#333", width=2)
    write(picture, (245, picture.height - 36), axis, size=17, anchor="mm")
    return picture


def draw_standing_bars(title: str, bars: Bars, axis: str) -> Image.Image:
    """Labels below, values above the bars, the axis title up the left side."""
    picture = Image.new("RGB", (110 + 84 * len(bars), 380), "white")
    shapes = ImageDraw.Draw(picture)
    write(picture, (picture.width / 2, 12), title, size=22, anchor="ma")
    scale = 220 / max(value for _, value in bars)
    for number, (label, value) in enumerate(bars):
        left = 80 + 84 * number
        shapes.rectangle((left, 330 - value * scale, left + 54, 330), fill=COLOURS[number % len(COLOURS)])
        write(picture, (left + 27, 322 - value * scale), str(value), size=17, anchor="mb")
        write(picture, (left + 27, 340), label, size=16, anchor="ma")
    shapes.line((66, 60, 66, 330, picture.width - 20, 330), fill="#333", width=2)
    side = Image.new("RGB", (text_width(axis, 18) + 8, 28), "white")
    write(side, (4, 14), axis, size=18, anchor="lm")
    side = side.rotate(90, expand=True)
    picture.paste(side, (22, 195 - side.height // 2))
    return picture


def make_items() -> list[Item]:
    return [_ask(number) for number in range(10)]


def _ask(number: int) -> Item:
    seed = f"chart-{number:02d}"
    rng = random.Random(seed)
    bars = list(zip(rng.sample(LABELS, 4), rng.sample(range(12, 98), 4), strict=True))
    axis = AXES[number % len(AXES)]
    draw = draw_lying_bars if number < 3 or number % 2 else draw_standing_bars
    image = photograph(draw("Fruit market", bars, axis), LEVELS[number % 3], seed, ground="#e4e2dc", margin=16)
    label, value = rng.choice(bars)
    if number < 5:
        question = f'What is the value of the bar "{label}"?'
        return short_answer(seed, question, [str(value)], image, sub_task="chart")
    if number < 7:
        options = rng.sample([str(other) for _, other in bars], 4)
        return choice(seed, f'What is the value of "{label}"?', options, str(value), image, sub_task="chart")
    if number < 9:
        return choice(seed, "What does the axis show?", rng.sample(AXES, 4), axis, image, sub_task="chart")
    highest = max(bars, key=lambda bar: bar[1])[0]
    options = [label for label, _ in bars]
    return choice(seed, "Which fruit has the longest bar?", options, highest, image, sub_task="chart")
