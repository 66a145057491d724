"""Score the same files with the real EvalScope and with flagmm, on one mock endpoint, and print both.

    python tools/compare_evalscope.py DATA --runs DATA/tables.json --replies DATA/requests.jsonl \\
        --evalscope-python .venv-evalscope/bin/python

`pip install evalscope` makes the other environment. DATA is the folder that both run in. `--runs` names a JSON object:
run -> {"dataset": "general_vqa", "args": {dataset_args}, "task": {"judge": "llm"}, …}; the last is optional.
`--replies` has a JSON object a line with `tag`, such as "v001" for a question that holds "#v001#", and `reply`; a
question without a known tag gets a reply that depends on its text alone. The exit status is 1 where scores differ by
0.0001 or more.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tabulate import tabulate

from flagmm import run_task
from flagmm.errors import FlagMMError
from flagmm.jsonio import read_json, read_jsonl
from flagmm.metrics.punkt_english import load_punkt_model

TOLERANCE = 1e-4
JUDGE = "mock-judge"
JUDGEMENT = '{"reasoning": "the same", "verdict": "A"}\nVERDICT: CORRECT'
POOL = ("ANSWER: A", "ANSWER: B", "Dog", "A red museum in the city", "两只猫", "I do not know.")
DRIVER = Path(__file__).resolve().with_name("evalscope_driver.py")

Scores = dict[tuple[str, str], tuple[int, float]]
"""(metric, subset) -> (number of questions, score from 0 to 1)."""


def main(arguments: Sequence[str] | None = None) -> int:
    args = parse_arguments(arguments)
    runs = read_json(args.runs)
    replies = {line["tag"]: line["reply"] for _, line in read_jsonl(args.replies)} if args.replies else {}
    os.chdir(args.data)  # paths in the data start here
    with serve(replies) as server, tempfile.TemporaryDirectory() as folder:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        configs = {name: task_config(run, url, folder) for name, run in runs.items()}
        theirs = run_evalscope(configs, os.path.abspath(args.evalscope_python), Path(folder))
        ours = {name: run_ours(config) for name, config in configs.items()}
    rows = [row for name in runs for row in compare(name, theirs[name], ours[name])]
    headers = ["run", "metric", "subset", "n", "EvalScope", "flagmm", "difference"]
    print(tabulate(rows, headers=headers, disable_numparse=True))
    differing = [row for row in rows if row[-1]]
    print(f"\n{len(rows)} numbers, {len(differing)} differ")
    return int(bool(differing))


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare scores with EvalScope's.")
    parser.add_argument("data", type=Path, metavar="DATA", help="folder that both run in")
    parser.add_argument("--runs", type=Path, required=True, help="JSON file of runs")
    parser.add_argument("--replies", type=Path, help="JSON Lines file of replies by tag")
    parser.add_argument("--evalscope-python", required=True, help="Python of an environment that has evalscope")
    return parser.parse_args(arguments)


def task_config(run: Mapping[str, Any], url: str, folder: str) -> dict[str, Any]:
    """The keys of a TaskConfig, which both take."""
    config = {
        "model": "mock", "api_url": url, "api_key": "none", "eval_type": "openai_api", "datasets": [run["dataset"]],
        "dataset_args": {run["dataset"]: run["args"]}, "work_dir": folder,
    }  # fmt: skip
    strategy = run.get("task", {}).get("judge")
    if strategy is not None:
        model = {"model_id": JUDGE, "api_url": url, "api_key": "none"}
        config["judge"] = {"strategy": strategy, "models": model}
    return config


class Endpoint(BaseHTTPRequestHandler):
    """Answers each question by its tag, else by its text; the judge finds everything right."""

    def __init__(self, replies: Mapping[str, str], *arguments: Any) -> None:
        self.replies = replies
        super().__init__(*arguments)

    def do_POST(self) -> None:  # the name that http.server looks for
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = JUDGEMENT if body["model"] == JUDGE else self.reply(json.dumps(body["messages"], ensure_ascii=False))
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        reply = {"id": "0", "object": "chat.completion", "created": 0, "model": "mock", "choices": [choice]}
        data = json.dumps(reply | {"usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def reply(self, text: str) -> str:
        """By the question's last tag."""
        tags = [tag for tag in re.findall(r"#(\w+)#", text) if tag in self.replies]
        if tags:
            return self.replies[tags[-1]]
        words = "".join(re.findall(r'"text": "([^"]*)"', text))  # media are sent in different ways
        return POOL[hashlib.sha256(words.encode()).digest()[0] % len(POOL)]

    def log_message(self, *_: Any) -> None:
        return


class serve:  # noqa: N801  # read as `with serve(…)`
    """The endpoint, served from a thread while the block runs."""

    def __init__(self, replies: Mapping[str, str]) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Endpoint, replies))
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self) -> ThreadingHTTPServer:
        self.thread.start()
        return self.server

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def run_evalscope(configs: Mapping[str, Any], python: str, folder: Path) -> dict[str, Scores | str]:
    """EvalScope's scores of every run; its log goes to stderr."""
    output = folder / "scores.json"
    environment = os.environ | {"NLTK_DATA": str(write_nltk_data(folder / "nltk_data")), "MODELSCOPE_OFFLINE": "1"}
    subprocess.run(
        [python, str(DRIVER), str(output)],
        input=json.dumps(configs), text=True, env=environment, stdout=sys.stderr, check=True,
    )  # fmt: skip
    found: dict[str, Any] = read_json(output)
    return {
        name: rows if isinstance(rows, str) else {(metric, subset): (num, score) for metric, subset, num, score in rows}
        for name, rows in found.items()
    }


def write_nltk_data(folder: Path) -> Path:
    """nltk's English Punkt parameters, which EvalScope would download, from the package that flagmm has them in."""
    model = load_punkt_model()
    target = folder / "tokenizers" / "punkt_tab" / "english"
    target.mkdir(parents=True)
    texts = {
        "collocations.tab": ["\t".join(pair) for pair in sorted(model.collocations)],
        "sent_starters.txt": sorted(model.starters),
        "abbrev_types.txt": sorted(model.abbreviations),
        "ortho_context.tab": [f"{word}\t{bits}" for word, bits in sorted(model.contexts.items())],
    }
    for name, lines in texts.items():
        (target / name).write_text("\n".join(lines), encoding="utf-8")
    return folder


def run_ours(config: Mapping[str, Any]) -> Scores | str:
    """Our scores of one run."""
    try:
        with redirect_stdout(sys.stderr):
            [report] = run_task(config).values()
    except FlagMMError as error:
        return f"{type(error).__name__}: {error}"
    return {
        (metric, name): (subset.num, score if metric.lower().startswith(("bleu", "rouge")) else score / 100)
        for name, subset in report.subsets.items()
        for metric, score in subset.metrics.items()
        if score is not None
    }


def compare(name: str, theirs: Scores | str, ours: Scores | str) -> list[list[Any]]:
    """A row for each number that either has; the last cell is empty where both agree."""
    if isinstance(theirs, str) or isinstance(ours, str):
        shown = [side if isinstance(side, str) else f"{len(side)} scores" for side in (theirs, ours)]
        return [[name, "", "", "", *shown, "no scores"]]
    rows = []
    for key in dict.fromkeys([*theirs, *ours]):
        (their_n, their), (our_n, our) = theirs.get(key, (0, None)), ours.get(key, (0, None))
        n = str(our_n) if our_n == their_n else f"{their_n} / {our_n}"
        cells = ["-" if score is None else f"{score:.4f}" for score in (their, our)]
        rows.append([name, *key, n, *cells, difference(their, our)])
    return rows


def difference(their: float | None, our: float | None) -> str:
    if their is None or our is None:
        return "missing"
    return f"{our - their:+.4f}" if abs(our - their) >= TOLERANCE else ""


if __name__ == "__main__":
    sys.exit(main())
