"""Areas of `bug_cases` about what surrounds scoring: replies of endpoints and judges, caches, configs, tables."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flagmm.config.dump import dump_task, fingerprint
from flagmm.config.model import ModelSpec
from flagmm.config.secrets import mask
from flagmm.config.task import _read, load_task  # the files of `config_load` are no whole tasks
from flagmm.dataset.annotations import load_annotations
from flagmm.dataset.tsv.dataset import TsvDataset
from flagmm.errors import ConfigError, DataError, ModelError
from flagmm.extraction import extract_number
from flagmm.formats.lmu import find_image
from flagmm.formats.table import open_table
from flagmm.formats.xlsx_table import read_xlsx
from flagmm.models.cache import is_cacheable
from flagmm.models.openai_reply import parse_completion, status_error
from flagmm.models.request import request_hash
from flagmm.models.sse import EventParser, StreamedReply
from flagmm.report.spreadsheet import write_xlsx
from flagmm.types import Message, ModelOutput, TextPart

Given = Mapping[str, Any]

_OPTIONS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def _api_parse(given: Given, _: Any) -> dict[str, Any]:
    try:
        if given["http_status"] >= 300:
            raise status_error(given["http_status"], json.dumps(given["body"]), {})
        output = parse_completion(given["body"])
    except ModelError as error:
        status = "refused" if error.kind == "refused" else "error"
        return {"content": "", "status": status, "retry": error.retryable}
    return {"content": output.text, "status": _status(output)}


def _status(output: ModelOutput) -> str:
    if output.refused:
        return "refused"
    if not output.text:
        return "empty"
    return "truncated" if output.finish_reason == "length" else "ok"


def _sse_parse(given: Given, _: Any) -> dict[str, Any]:
    parser, reply = EventParser(), StreamedReply()
    for data in [*parser.feed(given["raw"].encode()), *parser.close()]:
        reply.add(data)
    output = reply.output()
    return {"content": output.text, "total_tokens": output.usage.total_tokens if output.usage else None}


def _cache_accept(given: Given, _: Any) -> bool:
    if given.get("error"):
        return False  # a failure raises and never reaches the cache
    return is_cacheable(ModelOutput(text=given["content"] or "", finish_reason=given["finish_reason"]))


def _cache_key_equal(given: Given, _: Any) -> bool:
    return _request_key(given["a"]) == _request_key(given["b"])


def _request_key(request: Given) -> str:
    spec = ModelSpec(model_name=request["model"], url=request["url"], **request["params"])
    messages = [Message(role=item["role"], content=(TextPart(text=item["content"]),)) for item in request["messages"]]
    return request_hash(fingerprint(spec), messages, 0)


def _judge_parse(given: Given, _: Any) -> dict[str, Any]:
    """A call that failed has no output; a number is what the reply states."""
    score = None if given.get("error") or not given["output"] else extract_number(given["output"]).value
    return {"status": "failed" if score is None else "ok", "score": score}


def _config_load(given: Given, expected: Given) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in given["files"].items():
            Path(folder, name).write_text(text, encoding="utf-8")
        try:
            values = _read(Path(folder, given["main"]))
        except ConfigError as error:
            named = [word for word in expected.get("mentions", []) if repr(word) in str(error)]
            return {"error": True, "mentions": named}
    return {key: values[key] for key in expected if key in values}


def _config_dump(given: Given, _: Any) -> dict[str, bool]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.py")
        path.write_text(given["config"] + "dataset = dict(type='VqaBaseDataset', name='t')\n", encoding="utf-8")
        dumped = dump_task(load_task(path))
        return {"raises": False, "json_loads": json.loads(json.dumps(dumped)) == dumped}


def _redact(given: Given, expected: Given) -> dict[str, list[str]]:
    text = json.dumps(mask(given["config"]))
    return {"must_not_contain": [secret for secret in expected["must_not_contain"] if secret not in text]}


def _id_check(given: Given, _: Any) -> dict[str, bool]:
    items = [{"question_id": each, "question": "?", "question_type": "open"} for each in given["ids"]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.json")
        path.write_text(json.dumps(items), encoding="utf-8")
        try:
            load_annotations([path])
        except DataError:
            return {"error": True}
    return {"error": False}


def _tsv_load(given: Given, _: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.tsv")
        path.write_text(given["tsv"], encoding="utf-8")
        table = open_table(path)
        rows = [table.row(number) for number in range(len(table))]
    images = {row["index"]: row.get("image") for row in rows}
    return {"rows": [_as_asked(row, images) for row in rows]}


def _as_asked(row: dict[str, Any], images: Mapping[str, str | None]) -> dict[str, Any]:
    shared = find_image(row["index"], images.__getitem__)
    options = {label: row[label] for label in _OPTIONS if row.get(label)}
    return row | {"options": options, "image_same_as": shared.owner if shared else None}


def _xlsx_roundtrip(given: Given, _: Any) -> dict[str, Any]:
    text = given["text"]
    if isinstance(text, dict):
        start, unit, times = text["repeat"]
        text = start + unit * times
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answers.xlsx")
        write_xlsx(path, ["prediction"], [{"prediction": text}], whole="answers.tsv")
        return {"equal": [row["prediction"] for row in read_xlsx(path)] == [text]}


def _log_sample(given: Given, _: Any) -> dict[str, list[str]]:
    """What is kept of a row beside its answer: everything but the picture itself."""
    doc = given["doc"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.tsv")
        lines = [["index", "question", "answer", *doc], ["1", "Which?", "red", *map(str, doc.values())]]
        path.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
        [annotation] = TsvDataset(name="table", data_root=str(path)).get_annotation().values()
    return {"kept": [key for key in doc if key in annotation], "dropped": [key for key in doc if key not in annotation]}


def _import_check(given: Given, expected: Given) -> dict[str, Any]:
    code = (
        "import sys\nfrom flagmm.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code, *given["argv"]], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - started
    imported = set(done.stderr.split())
    limit = expected["seconds_at_most"]
    return {
        "not_imported": [name for name in expected["not_imported"] if name not in imported],
        "seconds_at_most": limit if seconds <= limit else seconds,
    }


AREAS: dict[str, Callable[[Given, Any], Any]] = {
    "api_parse": _api_parse,
    "sse_parse": _sse_parse,
    "retry_policy": lambda given, _: status_error(given["http_status"], "{}", {}).retryable,
    "cache_accept": _cache_accept,
    "cache_key_equal": _cache_key_equal,
    "judge_parse": _judge_parse,
    "config_load": _config_load,
    "config_dump": _config_dump,
    "redact": _redact,
    "id_check": _id_check,
    "tsv_load": _tsv_load,
    "log_sample": _log_sample,
    "xlsx_roundtrip": _xlsx_roundtrip,
    "import_check": _import_check,
}
SCORERS: dict[str, Callable[[Given], Any]] = {}
