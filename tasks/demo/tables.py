"""Price lists and timetables: one cell to be found."""

from __future__ import annotations

import random
from collections.abc import Sequence

from draw import LEVELS, photograph, write
from item import Item, choice, short_answer
from PIL import Image, ImageDraw

DISHES = ("Lentil soup", "Caesar salad", "Mushroom risotto", "Grilled trout", "Apple pie", "Lemonade", "Espresso")
CITIES = ("Bergen", "Lisbon", "Krakow", "Dresden", "Marseille", "Antwerp", "Porto", "Leeds")
ROW = 40
INK = "#1c2733"


def draw_table(
    title: str, rows: Sequence[Sequence[str]], widths: Sequence[int], *, ink: str = "#1c2733"
) -> Image.Image:
    """A ruled table whose first row is its head."""
    picture = Image.new("RGB", (sum(widths) + 40, ROW * len(rows) + 80), "#ffffff")
    lines = ImageDraw.Draw(picture)
    write(picture, (20, 16), title, size=24, ink=INK)
    for number, row in enumerate(rows):
        top, left = 60 + ROW * number, 20
        if number == 0:
            lines.rectangle((20, top, 20 + sum(widths), top + ROW), fill="#dfe7ef")
        for cell, width in zip(row, widths, strict=True):
            lines.rectangle((left, top, left + width, top + ROW), outline="#7b8794")
            write(picture, (left + 10, top + ROW / 2), cell, size=18, ink=INK, anchor="lm")
            left += width
    return picture


def make_items() -> list[Item]:
    return [_menu_item(number) for number in range(6)] + [_timetable_item(number) for number in range(5)]


def _menu_item(number: int) -> Item:
    seed = f"menu-{number:02d}"
    rng = random.Random(seed)
    menu = [(dish, f"{rng.randint(2, 19)}.{rng.choice((20, 50, 75, 90))}") for dish in rng.sample(DISHES, 4)]
    table = draw_table("Today's menu", [("Dish", "Price"), *menu], (230, 110))
    image = photograph(table, LEVELS[number % 3], seed, ground="#d8d2c4")
    dish, price = rng.choice(menu)
    question = f"What is the price of the {dish.lower()}?"
    if number < 3:
        return short_answer(seed, question, [price], image, sub_task="table")
    options = list(dict.fromkeys([price, *(other for _, other in menu)]))[:4]
    return choice(seed, question, rng.sample(options, len(options)), price, image, sub_task="table")


def _timetable_item(number: int) -> Item:
    seed = f"timetable-{number:02d}"
    rng = random.Random(seed)
    platforms = rng.sample(range(1, 15), 3)
    trains = [
        (f"IC {rng.randint(100, 999)}", city, str(platform), f"{rng.randint(6, 22):02d}:{rng.randint(0, 59):02d}")
        for city, platform in zip(rng.sample(CITIES, 3), platforms, strict=True)
    ]
    head = ("Train", "To", "Platform", "Leaves")
    table = draw_table("Departures", [head, *trains], (110, 150, 110, 100))
    image = photograph(table, LEVELS[number % 3], seed, ground="#c9ced3")
    train, city, platform, leaves = rng.choice(trains)
    if number < 2:
        question = f"From which platform does the train to {city} leave?"
        return short_answer(seed, question, [platform, f"Platform {platform}"], image, sub_task="table")
    if number < 4:
        question = f"When does the train to {city} leave?"
        times = [other[3] for other in trains]
        return choice(seed, question, times, leaves, image, sub_task="table")
    question = f'What stands in the column "Leaves" for {train}?'
    return short_answer(seed, question, [leaves], image, sub_task="table")
