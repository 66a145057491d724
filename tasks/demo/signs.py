"""Street plates, shop boards and notices."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from draw import LEVELS, Wear, photograph, text_width, write
from item import Item, choice, short_answer, yes_no
from PIL import Image, ImageDraw


@dataclass(frozen=True, kw_only=True)
class Style:
    board: str
    ink: str
    wall: str


PLATE = Style(board="#1f4e8c", ink="#f4f6f8", wall="#b59a80")
BOARD = Style(board="#23352b", ink="#e8c872", wall="#9c5b45")
NOTICE = Style(board="#f3f1ea", ink="#b3261e", wall="#8d9499")
PALE = Style(board="#cfc6b4", ink="#7d715c", wall="#bdb6a6")


def draw_sign(lines: Sequence[str], style: Style, wear: Wear, seed: str, *, small: Sequence[str] = ()) -> bytes:
    """A framed board with `lines` in large and, below them, `small` print."""
    sizes = [(line, 38) for line in lines] + [(line, 17) for line in small]
    width = max(text_width(line, size) for line, size in sizes) + 70
    height = sum(round(size * 1.4) for _, size in sizes) + 50
    board = Image.new("RGB", (width, height), style.board)
    ImageDraw.Draw(board).rectangle((8, 8, width - 9, height - 9), outline=style.ink, width=3)
    y = 24
    for line, size in sizes:
        write(board, (width / 2, y), line, size=size, ink=style.ink, anchor="ma")
        y += round(size * 1.4)
    return photograph(board, wear, seed, ground=style.wall, margin=40)


SAYS = "What does the sign say?"
SHORT = (
    (SAYS, ["KEEP LEFT"], (), PLATE),
    (SAYS, ["Mill Lane 27"], (), PLATE),
    (SAYS, ["WET PAINT"], (), PALE),
    (SAYS, ["PRIVATE ROAD", "NO TURNING"], (), NOTICE),
    (SAYS, ["MIND THE", "LOW CEILING"], (), NOTICE),
    ("What is the name of the shop?", ["The Copper Kettle"], ["Open daily from 9 to 18"], BOARD),
    ("What is the name of the shop?", ["Ferris & Daughters"], (), BOARD),
)
CHOICES = (
    ("Which street is on the sign?", "Ashgrove Road", ["Ashgrave Road", "Ashgrove Road", "Ashgrove Row"], PLATE),
    ("Which street is on the sign?", "Quarry Hill", ["Quarry Mill", "Query Hill", "Quarry Hill", "Quarry Hall"], PLATE),
    ("What is forbidden here?", "NO FISHING", ["Swimming", "Fishing", "Camping", "Smoking"], NOTICE),
    ("What kind of shop is it?", "Bennett's Bakery", ["A bakery", "A butcher", "A bookshop"], BOARD),
    ("What can be bought here?", "Patel Stationers", ["Bread", "Pens and paper", "Medicine", "Shoes"], BOARD),
)
QUESTIONS = (
    ('Does the sign say "CLOSED"?', "CLOSED", True, NOTICE),
    ('Does the sign say "EXIT"?', "NO ENTRY", False, NOTICE),
    ('Is the sign for "Station Road"?', "Station Road", True, PALE),
    ("Can one shop here on a Sunday?", "OPEN MON - FRI", False, NOTICE),
)


def make_items() -> list[Item]:
    items = []
    for number, (question, lines, small, style) in enumerate(SHORT):
        seed = f"sign-short-{number:02d}"
        image = draw_sign(lines, style, LEVELS[number % 3], seed, small=small)
        items.append(short_answer(seed, question, [" ".join(lines)], image, sub_task="sign"))
    rights = ("Ashgrove Road", "Quarry Hill", "Fishing", "A bakery", "Pens and paper")
    for number, ((question, line, options, style), right) in enumerate(zip(CHOICES, rights, strict=True)):
        seed = f"sign-choice-{number:02d}"
        image = draw_sign([line], style, LEVELS[(number + 1) % 3], seed)
        shuffled = random.Random(seed).sample(options, len(options))
        items.append(choice(seed, question, shuffled, right, image, sub_task="sign"))
    for number, (question, line, is_so, style) in enumerate(QUESTIONS):
        seed = f"sign-yes-{number:02d}"
        image = draw_sign([line], style, LEVELS[number % 3], seed)
        items.append(yes_no(seed, question, is_so, image, sub_task="sign"))
    return items
