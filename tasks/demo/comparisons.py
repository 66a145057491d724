"""Questions over several pictures."""

from __future__ import annotations

import random

from draw import LEVELS
from item import Item, choice, short_answer
from receipts import Receipt, draw_receipt, make_receipt, money, spellings
from signs import BOARD, NOTICE, PLATE, draw_sign

SUB_TASK = "multi-image"
SHOPS = ("Juniper Books", "Riverside Cycles", "The Tin Whistle", "Moss & Fern", "Halloran Tailors", "Pixel Repair")
STYLES = (BOARD, PLATE, NOTICE)


def make_items() -> list[Item]:
    return [
        *(_find_shop(number) for number in range(4)),
        *(_find_receipt(number) for number in range(2)),
        _compare_totals(),
        _add_totals(),
        *(_read_second(number) for number in range(2)),
    ]


def _find_shop(number: int) -> Item:
    seed = f"multi-shop-{number:02d}"
    rng = random.Random(seed)
    shops = rng.sample(SHOPS, 3)
    images = [
        draw_sign([shop], STYLES[place], LEVELS[(number + place) % 3], f"{seed}-{place}")
        for place, shop in enumerate(shops)
    ]
    wanted = rng.randrange(3)
    options = [f"Image {place}" for place in (1, 2, 3)]
    question = f'Which picture shows the shop called "{shops[wanted]}"?'
    return choice(seed, question, options, options[wanted], *images, sub_task=SUB_TASK)


def _two_receipts(seed: str, number: int) -> tuple[list[Receipt], list[bytes]]:
    receipts = [make_receipt(f"{seed}-{place}") for place in (1, 2)]
    images = [
        draw_receipt(receipt, LEVELS[(number + place) % 3], f"{seed}-{place}") for place, receipt in enumerate(receipts)
    ]
    return receipts, images


def _find_receipt(number: int) -> Item:
    seed = f"multi-total-{number:02d}"
    receipts, images = _two_receipts(seed, number)
    wanted = random.Random(seed).randrange(2)
    options = ["The first picture", "The second picture", "Neither"]
    question = f"Which receipt has a total of ${money(receipts[wanted].total)}?"
    return choice(seed, question, options, options[wanted], *images, sub_task=SUB_TASK)


def _compare_totals() -> Item:
    seed = "multi-higher-00"
    receipts, images = _two_receipts(seed, 0)
    options = ["Image 1", "Image 2"]
    higher = options[receipts[1].total > receipts[0].total]
    return choice(seed, "Which receipt has the higher total?", options, higher, *images, sub_task=SUB_TASK)


def _add_totals() -> Item:
    seed = "multi-sum-00"
    receipts, images = _two_receipts(seed, 1)
    question = "How much was spent on both receipts together?"
    answers = spellings(receipts[0].total + receipts[1].total)
    return short_answer(seed, question, answers, *images, sub_task=SUB_TASK)


def _read_second(number: int) -> Item:
    seed = f"multi-second-{number:02d}"
    receipts, images = _two_receipts(seed, number)
    if number == 1:
        question, answers = "What is the date in the second picture?", [receipts[1].date]
    else:
        question, answers = "What is the total in image 2?", spellings(receipts[1].total)
    return short_answer(seed, question, answers, *images, sub_task=SUB_TASK)
