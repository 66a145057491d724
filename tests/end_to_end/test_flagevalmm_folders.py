"""Task folders in the shape of FlagEvalMM's: a data set class with `config`, evaluators that call inherited methods."""

from __future__ import annotations

import json

import pytest

from tests.end_to_end.folders import answers_by_id, counts_of, read_json, result_of, write_picture
from tests.servers import MockEndpoint, Reply, error_reply

# In the shape of cmmu: neither class calls `__init__` of its base, ids stand under "id", and `process` is its own.
EXAM_TASK = """
register_dataset = {"exam_dataset.py": "ExamDataset"}
register_evaluator = {"exam_evaluator.py": "ExamEvaluator"}
shift_check = True
filter_types = ["multiple-choice", "multiple-response", "fill-in-the-blank"]
config = dict(dataset_path="Exams", split="val", processed_dataset_path="EXAMS", processor="process.py")
dataset = dict(
    type="ExamDataset", config=config, filter_types=filter_types, shift_check=shift_check,
    prompt_template=dict(type="PromptTemplate"), name="exam",
)
evaluator = dict(type="ExamEvaluator", shift_check=shift_check, filter_types=filter_types, use_llm_evaluator=False)
"""
EXAM_DATASET = """
import glob, json
import os.path as osp
from flagevalmm.common.const import FLAGEVALMM_DATASETS_CACHE_DIR
from flagevalmm.dataset.vqa_base_dataset import VqaBaseDataset
from flagevalmm.registry import DATASETS, PROMPTS


@DATASETS.register_module()
class ExamDataset(VqaBaseDataset):
    def __init__(self, name, cache_dir=FLAGEVALMM_DATASETS_CACHE_DIR, config=None, prompt_template=None,
                 shift_check=True, filter_types=None, **kwargs):
        assert "split" in config and config.get("dataset_name", "") == ""
        self.data_root = osp.join(cache_dir, config.processed_dataset_path)
        self.name = name
        self.prompt_template = PROMPTS.build(prompt_template)
        self.annotations = []
        for file in glob.glob(osp.join(self.data_root, "**", "*.jsonl")):
            with open(file) as lines:
                self.annotations += [item for item in map(json.loads, lines) if item["type"] in filter_types]

    def __len__(self):
        return len(self.annotations)

    def build_prompt(self, annotation):
        return self.prompt_template.build_prompt(
            question="<image 1>" + annotation["question_info"], question_type=annotation["type"],
            subject=annotation["subject"],
        )

    def __getitem__(self, index):
        item = self.annotations[index]
        return {"img_path": [osp.join(self.data_root, item["images"][0])], "question": self.build_prompt(item),
                "question_id": item["id"], "type": item["type"]}

    def meta_info(self):
        return {"name": self.name, "length": len(self.annotations), "type": "vqa"}

    def get_annotation(self):
        return {item["id"]: item for item in self.annotations}
"""
EXAM_EVALUATOR = """
import json
import os.path as osp
from flagevalmm.evaluator import BaseEvaluator
from flagevalmm.registry import EVALUATORS


@EVALUATORS.register_module()
class ExamEvaluator(BaseEvaluator):
    def __init__(self, filter_types=None, shift_check=True, use_llm_evaluator=False, is_clean=True, **kwargs):
        self.is_clean = is_clean
        self.kinds = {"multiple-choice": self.choice, "multiple-response": self.evaluate_multiple_response,
                      "fill-in-the-blank": self.evaluate_fill_blank_by_rule}

    def choice(self, gt, answer):
        letters = self.maybe_clean_answer(answer["answer"])
        return gt["answer"] == letters[:1], letters

    def cal_accuracy(self, annotation, answers, target_type=None):
        for answer in answers:
            gt = annotation[answer["question_id"]]
            answer["correct"], answer["answer"] = self.kinds[gt["type"]](gt, answer)
            answer["label"] = gt["answer"]

    def process(self, dataset, output_dir, **kwargs):
        with open(osp.join(output_dir, dataset.name + ".json")) as file:
            predictions = json.load(file)
        results = {}
        kept, rejected = self.filter_rejected(predictions, results)
        self.cal_accuracy(dataset.get_annotation(), kept)
        results["overall"] = {"correct": sum(each["correct"] for each in kept), "total": len(kept)}
        results.update(self.statistics_tokens(kept))
        self.save(results, kept + rejected, dataset.name, output_dir)
        return results
"""
EXAM = [
    {"id": "e-0", "type": "multiple-choice", "question_info": "选哪个", "answer": "B"},
    {"id": "e-1", "type": "multiple-response", "question_info": "选哪些", "answer": "AC"},
    {"id": "e-2", "type": "fill-in-the-blank", "question_info": "填空", "answer": "42"},
    {"id": "e-3", "type": "fill-in-the-blank", "question_info": "坏了", "answer": "7"},
    {"id": "e-4", "type": "drawing", "question_info": "画", "answer": ""},
]


def reply_to_exam(request):
    for word, text in (("选哪个", "答案是B"), ("选哪些", "C和A"), ("填空", "答案为42。")):
        if word in request.text:
            return Reply(text=text)
    return error_reply(400, "no")


@pytest.fixture
def exam(run_command):
    folder = run_command.folder
    for name, text in (("exam", EXAM_TASK), ("exam_dataset", EXAM_DATASET), ("exam_evaluator", EXAM_EVALUATOR)):
        (folder / "exam").mkdir(exist_ok=True)
        (folder / f"exam/{name}.py").write_text(text)
    data = folder / "cache/datasets/EXAMS"
    write_picture(data / "one.png")
    (data / "val").mkdir()
    lines = [json.dumps({**item, "images": ["one.png"], "subject": "maths"}) for item in EXAM]
    (data / "val/exam.jsonl").write_text("\n".join(lines))
    with MockEndpoint(reply_to_exam) as endpoint:
        done = run_command("--tasks", "exam", "--model", "m", "--url", endpoint.url, "--output-dir", "out")
        return done, endpoint.requests, folder


def test_classes_that_do_not_call_their_base_are_prepared_asked_and_scored(exam):
    done, requests, folder = exam
    assert (done.status, done.errors) == (1, []), done.stderr  # one item failed
    assert all(len(request.image_urls) == 1 for request in requests)
    result = result_of(folder / "out", "exam")
    assert result["overall"] == {"correct": 3, "total": 4}
    assert "reject_info" not in result  # an empty answer stays, so that failing cannot raise the score
    assert result["average_tokens"] == 14.0
    assert counts_of(folder / "out", "exam") == {"total": 4, "asked": 4, "answered": 3, "failed": 1}
    entries = {entry["question_id"]: entry for entry in read_json(folder / "out/exam/exam_evaluated.json")}
    assert [entries[f"e-{number}"]["correct"] for number in range(4)] == [True, True, True, False]
    assert [entries[f"e-{number}"]["answer"] for number in range(3)] == ["B", "AC", "42"]


# In the shape of rome: the evaluator looks at `use_llm_evaluator`, the hook takes fields of the item by name.
CLUES_BASE = """
def post_prompt_func(question: str, question_type: str, evaluator: str, evaluator_kwargs: dict, **kwargs):
    return "" if evaluator == "words" else f"One letter of {len(evaluator_kwargs['label'])}."


dataset = dict(type="VqaBaseDataset", prompt_template=dict(type="PromptTemplate", post_prompt=post_prompt_func))
"""
CLUES_TASK = """
register_evaluator = {{"clues_evaluator.py": "CluesEvaluator"}}
_base_ = "clues_prompt.py"
dataset = dict(data_root="data", anno_file="test.json", name={name!r})
evaluator = dict(
    type="CluesEvaluator", tracker_type="image_type", tracker_subtype="image_subtype",
    aggregation_fields=["raw_answer"], {settings}
)
"""
CLUES_EVALUATOR = """
from flagevalmm.evaluator import BaseEvaluator
from flagevalmm.evaluator.pre_process import process_multiple_choice
from flagevalmm.models import HttpClient
from flagevalmm.models.api_response import ApiResponse
from flagevalmm.registry import EVALUATORS


@EVALUATORS.register_module()
class CluesEvaluator(BaseEvaluator):
    def __init__(self, tracker_type, tracker_subtype=None, **kwargs):
        self.tracker_type = tracker_type
        self.tracker_subtype = tracker_subtype
        super().__init__(**kwargs)

    def get_score(self, gt, pred):
        pred["raw_answer"] = pred["answer"]
        if gt["evaluator"] == "words":
            return int(gt["evaluator_kwargs"]["words"][0] in pred["answer"].lower())
        return int(process_multiple_choice(pred["answer"])[:1] == gt["evaluator_kwargs"]["label"])

    def get_score_by_llm(self, gt, pred):
        message = self.llm_evaluator.build_message(query=gt["question"] + pred["answer"])
        response = self.llm_evaluator.infer(chat_messages=message, temperature=0, top_p=1, seed=42)
        assert isinstance(response, ApiResponse) and isinstance(self.llm_evaluator, HttpClient)
        return int(response.content)

    def cal_accuracy(self, annotations, predictions, *args, **kwargs):
        scores = {}
        for pred in predictions:
            gt = annotations[str(pred["question_id"])]
            pred["correct"] = (self.get_score_by_llm if self.use_llm_evaluator else self.get_score)(gt, pred)
            pred.update(gt)
            scores.setdefault(pred[self.tracker_type], []).append(pred["correct"])
        total = sum(map(sum, scores.values()))
        groups = {kind: [sum(marks), len(marks)] for kind, marks in scores.items()}
        accuracy = round(total / len(predictions) * 100, 3)
        return {"final_score": [total, len(predictions)], "accuracy": accuracy, **groups}
"""
CLUES = [
    {"question_id": "1", "question": "Which?", "question_type": "open", "image_type": "maps", "image_subtype": "a",
     "evaluator": "choices", "evaluator_kwargs": {"label": "B"}, "reference": "B"},
    {"question_id": "2", "question": "What?", "question_type": "open", "image_type": "memes", "image_subtype": "b",
     "evaluator": "words", "evaluator_kwargs": {"words": ["cat"]}, "reference": "cat"},
    {"question_id": "3", "question": "Where?", "question_type": "open", "image_type": "maps", "image_subtype": "c",
     "evaluator": "words", "evaluator_kwargs": {"words": ["oslo"]}, "reference": "Oslo"},
]  # fmt: skip


def answer_clues(request):
    for word, reply in (("Which?", Reply(text="So, answer: B")), ("What?", Reply(text="A cat"))):
        if word in request.text:
            return reply
    return error_reply(400, "no")


def test_nine_tasks_that_look_whether_a_judge_is_used_are_scored_by_rule_or_judge(run_command):
    folder = run_command.folder
    for name in ("data", "clues"):
        (folder / name).mkdir()
    (folder / "data/test.json").write_text(json.dumps(CLUES))
    (folder / "clues/clues_prompt.py").write_text(CLUES_BASE)
    (folder / "clues/clues_evaluator.py").write_text(CLUES_EVALUATOR)
    with MockEndpoint(answer_clues) as endpoint, MockEndpoint(Reply(text="1")) as judge:
        keys = f"use_llm_evaluator=True, eval_model_name='j', api_key='k', base_url={judge.url!r}"
        for name, settings in (("by_rule", ""), ("by_judge", keys)):
            (folder / f"clues/{name}.py").write_text(CLUES_TASK.format(name=name, settings=settings))
        tasks = ("clues/by_rule.py", "clues/by_judge.py")
        done = run_command("--tasks", *tasks, "--model", "m", "--url", endpoint.url, "--output-dir", "out")
        asked = {request.text for request in endpoint.requests}
        assert [request.method for request in judge.requests].count("POST") == 3
    assert (done.status, done.errors, len(done.warnings)) == (1, [], 2), done.stderr  # the failed call of each
    assert {"Which?\nOne letter of 1.", "What?"} <= asked
    by_rule, by_judge = (result_of(folder / "out", name) for name in ("by_rule", "by_judge"))
    assert (by_rule["final_score"], by_rule["accuracy"], by_rule["maps"]) == ([2, 3], 66.667, [1, 2])
    assert (by_rule["over"], by_rule["n"], len(by_rule["accuracy_interval"])) == ("asked", 3, 2)
    assert by_judge["final_score"] == [3, 3]
    assert answers_by_id(folder / "out", "by_rule")["3"]["status"] == "failed"
