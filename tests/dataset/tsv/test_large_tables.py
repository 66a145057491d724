"""Tables with many rows, and tables larger than what may be held in memory."""

from __future__ import annotations

import base64
import subprocess
import sys

import pytest

from flagmm.dataset.tsv import TsvDataset
from flagmm.errors import DataError
from tests.dataset.tsv.tables import encoded, picture, shown

MANY = 300_000
_ASK_ALL = """
import resource, sys
from flagmm.dataset.tsv import TsvDataset
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
dataset = TsvDataset(name="big", data_root=sys.argv[1])
for number in range(len(dataset)):
    dataset.build_sample(number)
print(len(dataset), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_table_of_300_000_rows_is_opened_and_any_row_is_read_at_once(lmu):
    lmu.mkdir()
    with open(lmu / "many.tsv", "w", encoding="utf-8") as file:
        file.write("index\tquestion\tA\tB\tanswer\n")
        file.writelines(f"{number}\tNumber {number}?\tone\ttwo\tA\n" for number in range(MANY))
    dataset = TsvDataset(name="many")
    assert len(dataset) == MANY
    assert shown(dataset.build_sample(MANY - 1))[0].startswith(f"Question: Number {MANY - 1}?\n")
    annotations = dataset.get_annotation()
    assert (len(annotations), annotations["123456"]["question"]) == (MANY, "Number 123456?")


def test_memory_does_not_grow_with_the_pictures_of_a_table(lmu):
    lmu.mkdir()
    cell = encoded("red") + "A" * 1_000_000  # what follows the picture is no harm to it
    with open(lmu / "big.tsv", "w", encoding="utf-8") as file:
        file.write("index\timage\tquestion\n")
        file.writelines(f"{number}\t{cell}\tWhat?\n" for number in range(100))
    done = subprocess.run(
        [sys.executable, "-c", _ASK_ALL, str(lmu / "big.tsv")], capture_output=True, text=True, check=True
    )
    rows, grown = map(int, done.stdout.split())
    kilobytes = 1 if sys.platform != "darwin" else 1024
    assert rows == 100
    assert grown / kilobytes < 30_000  # the table has 100 MB


LARGE = picture("red", "BMP") + bytes(range(256)) * 40
CELL = base64.b64encode(LARGE).decode()


def large(lmu, *rows, columns="index\timage\tquestion\tA\tB\tanswer"):
    lmu.mkdir(exist_ok=True)
    text = "\n".join([columns, *("\t".join(row) for row in rows)]) + "\n"
    (lmu / "t.tsv").write_bytes(text.encode("utf-8", "surrogateescape"))
    return TsvDataset(name="t")


def test_a_large_picture_is_read_out_of_the_table_once(lmu):
    dataset = large(lmu, ["1", CELL, '"a\t""b"""', "x", "", "A"], ["2", "1", "q", "x", "y", "B"])
    before = [shown(dataset.build_sample(number)) for number in range(2)]
    assert before[0][0] == before[1][0] == LARGE
    assert 'Question: a\t"b"\nOptions:\nA. x\nPlease' in before[0][1]
    with open(lmu / "t.tsv", "a", encoding="utf-8") as file:
        file.write("3\t")  # what reads the table now is told that it was changed
    assert shown(dataset.build_sample(0)) == before[0]
    assert dataset.get_annotation()["1"]["options"] == ["x"]
    with pytest.raises(DataError, match="the file was changed while it was in use"):
        dataset.build_sample(1)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1", CELL, "a\0b", "x", "y", "A"], "column 'question': a NUL at byte 1"),
        (["1", CELL, "a\udcff", "x", "y", "A"], "column 'question': not UTF-8 text"),
        (["1", CELL[:-1] + "!", "a", "x", "y", "A"], "image: broken base64"),
        (["1", CELL, "a", "x", "y", "A", "more"], "7 cells, but the header names 6 columns"),
    ],
)
def test_what_is_wrong_with_a_row_beside_a_large_picture_is_told(lmu, cells, message):
    with pytest.raises(DataError, match=rf"t\.tsv:2: {message}"):
        large(lmu, cells).build_sample(0)


def test_a_list_of_large_pictures_and_a_row_that_ends_with_its_picture(lmu):
    dataset = large(lmu, ["1", "q", str([CELL, CELL])], ["2", "q", CELL], columns="index\tquestion\timage")
    assert [shown(dataset.build_sample(number)) for number in range(2)] == [[LARGE, LARGE, "q"], [LARGE, "q"]]
