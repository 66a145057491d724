"""Models that scoring code makes by itself, and a judge lent to a `process` of a task's own, through the command."""

from __future__ import annotations

import json
import signal

import pytest

from tests.end_to_end.folders import files_under, read_json, result_of, write_task
from tests.end_to_end.test_judge import opened, save_answers
from tests.end_to_end.waiting import wait_until
from tests.servers import CHAT_PATH, MockEndpoint, Reply, by_question, error_reply

KEY = "ok-0pen-Sesame-91c4"
IN_A_FILE = """
import os
from concurrent.futures import ThreadPoolExecutor
from flagevalmm.models import GPT, HttpClient
from flagevalmm.models.api_response import ApiResponse, ApiUsage

llm = {made}


def get_result(annotations, predictions):
    assert isinstance(llm, GPT)

    def mark(prediction):
        message = llm.build_message("Mark " + prediction["answer"], system_prompt="You mark.")
        reply = llm.infer(chat_messages=message, temperature=0, top_p=1, seed=42, max_tokens=64)
        assert isinstance(reply, ApiResponse) and isinstance(reply.usage, ApiUsage)
        prediction["correct"] = int(reply.content)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(mark, predictions))
    return {{"accuracy": 100 * sum(p["correct"] for p in predictions) / len(predictions)}}
"""
IN_A_CLASS = """
import json
from flagevalmm.evaluator import BaseEvaluator
from flagevalmm.models.http_client import HttpClient
from flagevalmm.registry import EVALUATORS


@EVALUATORS.register_module()
class Mine(BaseEvaluator):
    def __init__(self, base_url, api_key, **kwargs):
        super().__init__(**kwargs)
        self.client = HttpClient(model_name="own-model", url=base_url, api_key=api_key, max_tokens=64)

    def process(self, dataset, output_dir, **kwargs):
        predictions = json.load(open(f"{output_dir}/{dataset.name}.json"))
        for each in predictions:
            message = self.client.build_message(query="Mark " + each["answer"], system_prompt="You mark.")
            each["correct"] = int(self.client.infer(message, temperature=0, top_p=1, seed=42))
        results = {"accuracy": 100 * sum(each["correct"] for each in predictions) / len(predictions)}
        self.save(results, predictions, dataset.name, output_dir)
        return results
"""
MARKS = by_question({"cat 1": Reply(text="0")}, default=Reply(text="1"))
ARGUMENTS = ("--without-infer", "--output-dir", "out")


def task_with_file(folder, made, code=IN_A_FILE):
    evaluator = "dict(type='BaseEvaluator', eval_func='evaluate.py')"
    task = write_task(folder, [opened(n) for n in range(4)], evaluator=evaluator)
    (folder / "evaluate.py").write_text(code.format(made=made))
    return task


def task_with_class(folder, code, settings=""):
    task = write_task(folder, [opened(n) for n in range(4)], evaluator=f"dict(type='Mine', {settings})")
    task.write_text(task.read_text() + "register_evaluator = {'mine.py': 'Mine'}\n")
    (folder / "mine.py").write_text(code)
    return task


@pytest.fixture
def answered(tmp_path):
    save_answers(tmp_path, {n: f"cat {n}" for n in range(4)})
    return tmp_path


def holding(folder, key=KEY):
    return [path.name for path in folder.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]


@pytest.mark.parametrize("kind", ["GPT", "HttpClient", "process"])
def test_a_model_that_code_makes_is_asked_as_a_judge_is(run_command, answered, kind):
    with MockEndpoint(MARKS) as endpoint:
        if kind == "GPT":
            made = f"GPT(model_name='own-model', base_url={endpoint.url!r}, api_key=os.environ['OWN_KEY'])"
            task = task_with_file(answered / "task", made)
        elif kind == "HttpClient":  # the whole address, as `requests` wants it
            address = endpoint.url.removesuffix("/v1") + CHAT_PATH
            made = f"HttpClient(model_name='own-model', url={address!r}, api_key='$OWN_KEY', max_num_frames=8)"
            task = task_with_file(answered / "task", made)
        else:
            settings = f"base_url={endpoint.url!r}, api_key='$OWN_KEY'"
            task = task_with_class(answered / "task", IN_A_CLASS, settings)
        done = run_command("--tasks", task, *ARGUMENTS, OWN_KEY=KEY)
        asked = len(endpoint.requests)
        again = run_command("--tasks", task, *ARGUMENTS, OWN_KEY=KEY)
        assert asked == len(endpoint.requests) == 4  # scoring again asks nothing
    assert (done.status, again.status) == (0, 0), done.stderr
    request = endpoint.requests[0]
    sent = {name: request.body[name] for name in ("model", "temperature", "top_p", "seed", "max_tokens")}
    wanted = {"model": "own-model", "temperature": 0, "top_p": 1, "seed": 42, "max_tokens": 64}
    assert sent == wanted
    assert request.body["messages"][0] == {"role": "system", "content": "You mark."}
    assert request.headers["authorization"] == f"Bearer {KEY}"
    result = result_of(answered / "out")
    assert (result["accuracy"], result["counts"]["answered"], result["counts"]["judge_failed"]) == (75, 4, 0)
    [report] = result["own_models"]
    assert (report["judge"], report["strategy"], report["asked"], report["failed"]) == ("own-model", "own_code", 4, 0)
    assert report["tokens"] == 56
    marks = {
        entry["question_id"]: entry["correct"] for entry in read_json(answered / "out/colours/colours_evaluated.json")
    }
    assert marks == {"0": 1, "1": 0, "2": 1, "3": 1}
    assert KEY not in done.stdout + done.stderr + again.stderr
    assert holding(answered) == []


ONE_BY_ONE = """
from flagevalmm.models import GPT


def get_result(annotations, predictions):
    llm = {made}
    for each in predictions:
        each["correct"] = int(llm.infer("Mark " + each["answer"]))
    return {{"accuracy": 25 * sum(each["correct"] for each in predictions)}}
"""


def test_a_call_of_an_own_model_that_fails_is_one_line_and_what_was_judged_is_kept(run_command, answered):
    replies = {"cat 2": error_reply(400, f"no, {KEY}")}
    with MockEndpoint(lambda request: replies.get(request.text.removeprefix("Mark "), Reply(text="1"))) as endpoint:
        made = f"GPT('own', base_url={endpoint.url!r}, api_key={KEY!r}, retries=0)"
        task = task_with_file(answered / "task", made, ONE_BY_ONE)
        done = run_command("--tasks", task, *ARGUMENTS)
        replies.clear()
        again = run_command("--tasks", task, *ARGUMENTS)
        assert [request.text.rpartition(" ")[2] for request in endpoint.requests] == ["0", "1", "2", "2", "3"]
    assert (done.status, len(done.errors)) == (1, 1), done.stderr
    assert all(text in done.errors[0] for text in ("BaseEvaluator", "HTTP 400", "what was judged is kept"))
    assert KEY not in done.stdout + done.stderr
    assert again.status == 0, again.stderr
    assert result_of(answered / "out")["accuracy"] == 100


def test_failed_calls_that_code_puts_up_with_count_as_failures_of_a_judge(run_command, answered):
    code = ONE_BY_ONE.replace(
        'each["correct"] = int(llm.infer("Mark " + each["answer"]))',
        'try:\n            each["correct"] = int(llm.infer("Mark " + each["answer"]))\n'
        '        except Exception:\n            each["correct"] = 0',
    )
    with MockEndpoint(by_question({"cat 2": error_reply(400, "no")}, default=Reply(text="1"))) as endpoint:
        task = task_with_file(answered / "task", f"GPT('own', base_url={endpoint.url!r}, retries=0)", code)
        done = run_command("--tasks", task, *ARGUMENTS)
    result = result_of(answered / "out")
    assert (done.status, result["accuracy"], result["counts"]["judge_failed"]) == (1, 75, 1), done.stderr
    assert result["own_models"][0]["failed"] == 1
    assert "1 judge" in done.stdout  # below the table


def test_an_own_model_that_cannot_be_used_is_told_as_a_judge_is(run_command, answered):
    with MockEndpoint(error_reply(401, "who are you")) as endpoint:
        task = task_with_file(answered / "task", f"GPT('own', base_url={endpoint.url!r})", ONE_BY_ONE)
        done = run_command("--tasks", task, *ARGUMENTS)
        assert len(endpoint.requests) == 1
    assert (done.status, len(done.errors)) == (2, 1), done.stderr
    assert "check api_key" in done.errors[0]
    assert "colours_result.json" not in files_under(answered / "out/colours")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("GPT('own')", "GPT('own'): url: missing"),
        ("GPT('own', base_url='http://h/v1', temperature='hot')", "temperature: expected a number"),
        ("GPT('own', use_azure_api=True)", "use_azure_api: not spoken here"),
    ],
)
def test_a_setting_of_an_own_model_that_is_wrong_is_one_line(run_command, answered, made, said):
    done = run_command("--tasks", task_with_file(answered / "task", made, ONE_BY_ONE), *ARGUMENTS)
    assert (done.status, len(done.errors)) == (2, 1), done.stderr
    assert said in done.errors[0]


def test_ctrl_c_ends_calls_of_own_models_that_threads_wait_for(run_command, answered):
    with MockEndpoint(Reply(hang=True)) as endpoint:
        task = task_with_file(answered / "task", f"GPT('own', base_url={endpoint.url!r})")
        process = run_command.start("--tasks", task, *ARGUMENTS)
        wait_until(lambda: len(endpoint.requests) == 4, "calls under way")
        process.send_signal(signal.SIGINT)
        stopped = run_command.wait(process)
    assert stopped.status == 130, stopped.stderr


PROCESS_WITH_JUDGE = "\n".join(
    line.replace("self, base_url, api_key, **kwargs", "self, **kwargs").replace("self.client", "self.llm_evaluator")
    for line in IN_A_CLASS.splitlines()
    if "self.client = " not in line
)


@pytest.mark.parametrize("way", ["--judge", "old keys"])
def test_a_process_of_a_task_s_own_finds_the_judge_on_its_evaluator(run_command, answered, way):
    with MockEndpoint(MARKS) as judge:
        given = {"model_name": "the-judge", "url": judge.url, "api_key": KEY}
        (answered / "judge.json").write_text(json.dumps(given))
        keys = f"use_llm_evaluator=True, eval_model_name='the-judge', base_url={judge.url!r}, api_key='$JUDGE_KEY'"
        task = task_with_class(answered / "task", PROCESS_WITH_JUDGE, "" if way == "--judge" else keys)
        flags = ("--judge", "judge.json") if way == "--judge" else ()
        done = run_command("--tasks", task, *ARGUMENTS, *flags, JUDGE_KEY=KEY)
        assert len(judge.requests) == 4
    assert done.status == 0, done.stderr
    result = result_of(answered / "out")
    assert (result["accuracy"], result["judge"]["judge"], result["judge"]["asked"]) == (75, "the-judge", 4)
    assert result["judge"]["strategy"] == "own_code"
    assert "own_models" not in result
    assert holding(answered / "out") == []


AROUND_THE_USUAL = """
import json
from flagevalmm.evaluator import BaseEvaluator
from flagevalmm.registry import EVALUATORS


@EVALUATORS.register_module()
class Mine(BaseEvaluator):
    def process(self, dataset, output_dir, **kwargs):
        self.llm_evaluator.infer("Before")
        results = super().process(dataset, output_dir, **kwargs)
        self.llm_evaluator.infer("After")
        return results

    def cal_accuracy(self, annotations, predictions, *args):
        for each in predictions:
            each["correct"] = int(self.llm_evaluator.infer("Mark " + each["answer"]))
        return {"accuracy": 25 * sum(each["correct"] for each in predictions)}
"""


def test_a_process_around_the_usual_one_has_the_judge_before_in_and_after_it(run_command, answered):
    with MockEndpoint(MARKS) as judge:
        (answered / "judge.json").write_text(json.dumps({"model_name": "the-judge", "url": judge.url}))
        task = task_with_class(answered / "task", AROUND_THE_USUAL)
        done = run_command("--tasks", task, *ARGUMENTS, "--judge", "judge.json")
        asked = [request.text for request in judge.requests]
    assert done.status == 0, done.stderr
    assert asked == ["Before", *(f"Mark cat {n}" for n in range(4)), "After"]
    result = result_of(answered / "out")
    assert (result["accuracy"], result["judge"]["asked"]) == (75, 6)


NO_BASE = """
import json
from flagevalmm.models.http_client import HttpClient
from flagevalmm.registry import EVALUATORS


@EVALUATORS.register_module()
class Mine:
    def __init__(self, model, url, **kwargs):
        self.client = HttpClient(model_name=model, url=url, temperature=None, retry_time=30, cache_chat_name="mine")

    def process(self, dataset, output_dir, **kwargs):
        predictions = json.load(open(f"{output_dir}/{dataset.name}.json"))
        messages = [self.client.build_message(query=each["answer"]) for each in predictions]
        marks = [int(self.client.infer(message).content) for message in messages]
        return {"accuracy": 25 * sum(marks)}
"""


def test_a_class_of_nobody_s_asks_the_model_that_it_made(run_command, answered):
    with MockEndpoint(MARKS) as endpoint:
        task = task_with_class(answered / "task", NO_BASE, f"model='own', url={endpoint.url!r}")
        done = run_command("--tasks", task, *ARGUMENTS)
        assert "temperature" not in endpoint.requests[0].body
    assert done.status == 0, done.stderr
    assert any("GPT('own'): cache_chat_name: has no effect" in line for line in done.warnings), done.stderr
    result = result_of(answered / "out")
    assert (result["accuracy"], result["counts"]["answered"], result["own_models"][0]["asked"]) == (75, 4, 4)
