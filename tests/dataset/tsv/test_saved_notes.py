"""What is kept of a large table for its next start: used while it fits, made again when it does not."""

from __future__ import annotations

import json
import logging
import os
import zlib
from pathlib import Path

import pytest

from flagmm.dataset.tsv import TsvDataset
from tests.dataset.tsv.tables import encoded, shown

PICTURE = encoded("red") + "A" * 1_000_000  # what follows the picture is no harm to it
LARGE = 10  # rows with a picture, which make a table of which notes are kept
READ_COUNT = Path("/proc/self/io")


def row(index, image=PICTURE, question="What?", answer="Yes"):
    return f"{index}\t{image}\t{question}\t{answer}\n".encode("utf-8", "surrogateescape")


PLAIN = [row(number) for number in range(LARGE)]
ODD = [
    *PLAIN,
    row("name", image="3"),
    row("none", image="", answer="other"),
    row("", question='"two\nlines"'),
    row("a\udcff"),
    row("nul\0"),
    row("many", answer="Yes\tmore"),
    row("open", question='"never closed'),
    row("图", question='"say ""hi"""'),
]


def write(path, rows, columns="index\timage\tquestion\tanswer"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(f"{columns}\n".encode() + b"".join(rows))
    return path


def notes_of(lmu, name="t"):
    return lmu / "images" / name / ".rows"


def told(dataset):
    """All that a data set tells of its rows, also of those that are wrong."""
    return {
        "ids": [dataset.question_id_at(number) for number in range(len(dataset))],
        "kind": dataset.kind,
        "annotations": [dict(annotation) for annotation in dataset.get_annotation().values()],
        "samples": [outcome(dataset, number) for number in range(len(dataset))],
    }


def outcome(dataset, number):
    try:
        return shown(dataset.build_sample(number))
    except Exception as error:  # noqa: BLE001  # a wrong row is compared by what is told of it
        return repr(error)


def bytes_read():
    return int(READ_COUNT.read_text().split()[1])


def opened(**keywords):
    """The data set, and how many bytes were read until it was there."""
    before = bytes_read()
    dataset = TsvDataset(name="t", **keywords)
    return dataset, bytes_read() - before


@pytest.mark.skipif(not READ_COUNT.exists(), reason="this system does not tell how much a process read")
def test_a_second_start_does_not_read_the_table(lmu):
    size = write(lmu / "t.tsv", PLAIN).stat().st_size
    first, read_at_first = opened()
    second, read_again = opened()
    assert read_at_first >= size
    assert read_again < size / 8
    assert told(second) == told(first)


@pytest.mark.parametrize("rows", [PLAIN, ODD], ids=["plain", "odd"])
@pytest.mark.parametrize("skips", [True, False])
def test_notes_tell_all_that_the_table_tells(lmu, rows, skips):
    write(lmu / "t.tsv", rows)
    from_table = told(TsvDataset(name="t", skip_noimg=skips))
    TsvDataset(name="t", skip_noimg=not skips)
    kept = notes_of(lmu).read_bytes()
    assert told(TsvDataset(name="t", skip_noimg=skips)) == from_table
    assert notes_of(lmu).read_bytes() == kept


def test_notes_that_fit_are_believed(lmu):
    """So the other tests, which alter a table or its notes, say something."""
    write(lmu / "t.tsv", PLAIN)
    TsvDataset(name="t")
    altered = notes_of(lmu).read_bytes()[:-4].replace(b"0123456789", b"9123456780")
    notes_of(lmu).write_bytes(altered + zlib.crc32(altered).to_bytes(4, "little"))
    assert told(TsvDataset(name="t"))["ids"][:3] == ["9", "1", "2"]


def with_head(change):
    def damage(data):
        line, _, rest = data.partition(b"\n")
        return json.dumps(change(json.loads(line))).encode() + b"\n" + rest

    return damage


def other_sizes(head):
    sizes = head["sections"]
    return {**head, "sections": {**sizes, "starts": sizes["starts"] - 8, "lines": sizes["lines"] + 8}}


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-400] + bytes([data[-400] ^ 1]) + data[-399:],
        lambda data: b"\xff" * 100_000,
        lambda data: b"[" * 60_000 + b"\n",
        lambda data: b"[]\n",
        with_head(lambda head: {**head, "format": 0}),
        with_head(lambda head: {**head, "byteorder": "middle"}),
        with_head(lambda head: {**head, "sections": []}),
        with_head(lambda head: {**head, "sections": {**head["sections"], "starts": 10**18}}),
        with_head(lambda head: {**head, "sections": {**head["sections"], "starts": "144"}}),
        with_head(lambda head: {**head, "sections": {**head["sections"], "starts": -8}}),
        with_head(other_sizes),
    ],
)
def test_damaged_notes_are_made_again(lmu, damage):
    write(lmu / "t.tsv", PLAIN)
    expected = TsvDataset(name="t")
    kept = notes_of(lmu).read_bytes()
    assert damage(kept) != kept
    notes_of(lmu).write_bytes(damage(kept))
    assert told(TsvDataset(name="t")) == told(expected)
    assert notes_of(lmu).read_bytes() == kept


def in_place(path, data):
    with open(path, "r+b") as file:
        file.write(data)


def replaced(path, data):
    path.with_name("new").write_bytes(data)
    os.replace(path.with_name("new"), path)


@pytest.mark.parametrize("change", [in_place, replaced])
@pytest.mark.parametrize("keeps_time", [True, False])
@pytest.mark.parametrize("last", [row("9"), row("X"), row("9") + row("10")], ids=["same", "same size", "longer"])
def test_a_table_that_was_changed_is_read_again(lmu, change, keeps_time, last):
    path = write(lmu / "t.tsv", PLAIN)
    TsvDataset(name="t")
    status = path.stat()
    change(path, path.read_bytes().replace(PLAIN[-1], last))
    if keeps_time:
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    expected = write(lmu / "new.tsv", [*PLAIN[:-1], last])
    assert told(TsvDataset(name="t"))["ids"] == told(TsvDataset(name="new"))["ids"]
    assert expected.read_bytes() == path.read_bytes()


def test_two_tables_of_one_name_are_not_taken_for_each_other(lmu, tmp_path):
    tables = [write(tmp_path / folder / "t.tsv", [*PLAIN, row(folder)]) for folder in ("aa", "bb")]
    status = tables[0].stat()
    os.utime(tables[1], ns=(status.st_atime_ns, status.st_mtime_ns))
    for table in [*tables, *tables]:
        assert TsvDataset(name="t", data_root=str(table)).question_id_at(LARGE) == table.parent.name


def test_nothing_is_kept_of_a_small_table(lmu):
    write(lmu / "t.tsv", PLAIN[: LARGE // 2])
    assert len(TsvDataset(name="t")) == LARGE // 2
    assert not (lmu / "images").exists()


def test_where_nothing_can_be_written_the_table_is_read_each_time(lmu, caplog):
    caplog.set_level(logging.INFO)
    write(lmu / "t.tsv", PLAIN)
    (lmu / "images").write_text("no folder")
    for _ in range(2):
        caplog.clear()
        assert len(TsvDataset(name="t")) == LARGE
        [message] = [message for message in caplog.messages if "cannot be written" in message]
        assert message.endswith("the next start reads the table again")
        assert {record.levelname for record in caplog.records} == {"INFO"}
    assert (lmu / "images").read_text() == "no folder"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_only_be_read_is_no_fault(lmu):
    write(lmu / "t.tsv", PLAIN)
    notes_of(lmu).parent.mkdir(parents=True)
    notes_of(lmu).parent.chmod(0o500)
    assert len(TsvDataset(name="t")) == len(TsvDataset(name="t")) == LARGE
    assert not notes_of(lmu).exists()


def test_no_picture_is_kept_under_the_name_of_the_notes(lmu):
    rows = [row(number, question=f"What?\t.rows\t{number}") for number in range(LARGE)]
    write(lmu / "t.tsv", rows, columns="index\timage\tquestion\timage_path\thint\tanswer")
    before = told(TsvDataset(name="t"))
    kept = notes_of(lmu).read_bytes()
    assert told(TsvDataset(name="t")) == before
    assert notes_of(lmu).read_bytes() == kept
    assert (lmu / "images" / "t" / "0.png").exists()


def test_notes_on_300_000_rows_with_quotes(lmu):
    many = 300_000
    question = '"Is the number ""{0}"" even?\nSay yes or no."'
    rows = (f"{number}\t\t{question.format(number)}\t{'No' if number % 2 else 'Yes'}\n" for number in range(many))
    write(lmu / "t.tsv", map(str.encode, rows), columns="index\timage_path\tquestion\tanswer")
    first = TsvDataset(name="t")
    assert notes_of(lmu).exists()
    second = TsvDataset(name="t")
    for dataset in (first, second):
        assert (len(dataset), dataset.kind) == (many, "yes-no")
        assert [dataset.question_id_at(number) for number in (0, 123_456, many - 1)] == ["0", "123456", "299999"]
        assert shown(dataset.build_sample(123_456)) == ['Is the number "123456" even?\nSay yes or no.']
