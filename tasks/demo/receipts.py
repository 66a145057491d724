"""Till receipts: totals, dates and prices to be read."""

from __future__ import annotations

import random
from dataclasses import dataclass

from draw import LEVELS, Wear, photograph, write
from item import Item, choice, short_answer
from PIL import Image, ImageDraw

SHOPS = ("Corner Market", "Lindqvist Foods", "Bay Street Deli", "Harbour Grocer", "Nine Elms Store", "Olive & Thyme")
PRODUCTS = (
    "Rye bread", "Butter", "Oat milk", "Tomatoes", "Green tea", "Honey", "Pasta", "Cheddar", "Apples", "Rice",
    "Olive oil", "Yoghurt", "Coffee", "Walnuts",
)  # fmt: skip
WIDTH = 330


@dataclass(frozen=True, kw_only=True)
class Receipt:
    shop: str
    date: str
    time: str
    lines: list[tuple[str, int]]
    """Products and their prices in cents."""
    has_time: bool

    @property
    def subtotal(self) -> int:
        return sum(price for _, price in self.lines)

    @property
    def tax(self) -> int:
        return self.subtotal * 8 // 100

    @property
    def total(self) -> int:
        return self.subtotal + self.tax


def money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def spellings(cents: int) -> list[str]:
    return [money(cents), f"${money(cents)}"]


def make_receipt(seed: str) -> Receipt:
    rng = random.Random(seed)
    return Receipt(
        shop=rng.choice(SHOPS),
        date=f"{rng.randint(1, 28):02d}/{rng.randint(1, 12):02d}/{rng.randint(2019, 2025)}",
        time=f"{rng.randint(8, 20):02d}:{rng.randint(0, 59):02d}",
        lines=[(product, rng.randint(85, 1450)) for product in rng.sample(PRODUCTS, rng.randint(2, 4))],
        has_time=rng.random() < 0.5,
    )


def draw_receipt(receipt: Receipt, wear: Wear, seed: str) -> bytes:
    rows = [(name, money(price)) for name, price in receipt.lines]
    sums = [
        ("Subtotal", money(receipt.subtotal)),
        ("Tax 8%", money(receipt.tax)),
        ("TOTAL", f"${money(receipt.total)}"),
    ]
    paper = Image.new("RGB", (WIDTH, 140 + 28 * (len(rows) + len(sums))), "#f7f4ec")
    write(paper, (WIDTH / 2, 18), receipt.shop, size=25, anchor="ma")
    write(paper, (20, 62), f"Date: {receipt.date}", size=17)
    if receipt.has_time:
        write(paper, (WIDTH - 20, 62), receipt.time, size=17, anchor="ra")
    y = 100
    for number, (name, amount) in enumerate(rows + sums):
        if number == len(rows):
            ImageDraw.Draw(paper).line((20, y + 4, WIDTH - 20, y + 4), fill="#555", width=1)
            y += 14
        size = 22 if name == "TOTAL" else 18
        write(paper, (20, y), name, size=size)
        write(paper, (WIDTH - 20, y), amount, size=size, anchor="ra")
        y += 28
    return photograph(paper, wear, seed)


def total_options(receipt: Receipt, rng: random.Random) -> list[str]:
    """The total among sums that stand on the receipt, too, and one that looks like it."""
    wrong = [receipt.subtotal, receipt.total + 90, max(price for _, price in receipt.lines)]
    options = [f"${money(amount)}" for amount in [receipt.total, *wrong]]
    return rng.sample(options, len(options))


def make_items() -> list[Item]:
    items = []
    for number in range(12):
        seed = f"receipt-{number:02d}"
        receipt, wear = make_receipt(seed), LEVELS[number % 3]
        items.append(_ask(seed, receipt, draw_receipt(receipt, wear, seed)))
    return items


def _ask(seed: str, receipt: Receipt, image: bytes) -> Item:
    rng = random.Random(f"{seed}-question")
    number = int(seed[-2:])
    products = [name for name, _ in receipt.lines]
    if number < 3:
        return short_answer(
            seed, "What is the total on the receipt?", spellings(receipt.total), image, sub_task="receipt"
        )
    if number < 5:
        return short_answer(seed, "What is the date on the receipt?", [receipt.date], image, sub_task="receipt")
    if number < 8:
        name, price = rng.choice(receipt.lines)
        question = f"What is the price of the {name.lower()}?"
        return short_answer(seed, question, spellings(price), image, sub_task="receipt")
    if number < 10:
        options = total_options(receipt, rng)
        right = f"${money(receipt.total)}"
        return choice(seed, "What is the total on the receipt?", options, right, image, sub_task="receipt")
    if number < 11:
        count = str(len(products))
        return short_answer(seed, "How many different products were bought?", [count], image, sub_task="receipt")
    dearest = max(receipt.lines, key=lambda line: line[1])[0]
    return choice(seed, "Which product costs most?", products, dearest, image, sub_task="receipt")
