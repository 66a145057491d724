"""Data sets by name: a table in $LMUData, whose columns MODALITY and TYPE say what the class would."""

import base64
import json
import logging
import os
import pickle
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pandas as pd

from vlmeval.smp import load


def _root():
    return os.environ["LMUData"]  # noqa: SIM112  # its spelling


class Stand:
    def __init__(self, dataset, root, **kwargs):
        self.data = pd.read_csv(root / f"{dataset}.tsv", sep="\t")
        self.MODALITY = self.data.pop("MODALITY")[0] if "MODALITY" in self.data else "IMAGE"
        self.TYPE = self.data.pop("TYPE")[0] if "TYPE" in self.data else "MCQ"
        self.img_root = str(root / "images" / dataset)
        if "key" in kwargs and kwargs.get("is_refused"):
            raise ValueError(f"refused {kwargs['key']}")

    def build_prompt(self, line):
        print("building", line["index"], _root())
        if "prompt" in line and isinstance(line["prompt"], str):
            return json.loads(line["prompt"])
        messages = []
        if "image" in line:
            path = Path(self.img_root) / f"{line['index']}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(base64.b64decode(line["image"]))
            messages.append({"type": "image", "value": str(path)})
        if "image_path" in line:
            messages.append({"type": "image", "value": line["image_path"]})
        options = "".join(f"\n{letter}. {line[letter]}" for letter in "AB" if letter in line)
        return [*messages, {"type": "text", "value": f"Question: {line['question']}{options}"}]

    def evaluate(self, eval_file, **judge_kwargs):
        print("scoring in", _root(), "with", judge_kwargs.get("key"))
        logging.getLogger("vlmeval.api").warning("API Key: %s", judge_kwargs.get("key"))
        warnings.warn("OPENAI API is not working properly", stacklevel=1)
        subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
        behaviour = judge_kwargs.get("behave")
        if behaviour == "raise":
            raise ValueError(f"cannot reach the judge with {judge_kwargs['key']}")
        if behaviour == "take long":
            time.sleep(60)
        if "code" in judge_kwargs:
            exec(judge_kwargs["code"], {"key": judge_kwargs.get("key")})
        if behaviour == "exit":
            sys.exit(3)
        if behaviour == "nothing":
            return None
        if behaviour == "not implemented":
            raise NotImplementedError
        data = load(eval_file)
        stem = Path(eval_file).with_suffix("")
        kept = stem.with_name(f"{stem.name}_kept.pkl")
        if kept.exists():
            hits = pickle.loads(kept.read_bytes())
            print("took the hits of before")
        else:
            hits = [float(str(row["prediction"])[-1:] == str(row["answer"])) for _, row in data.iterrows()]
            kept.write_bytes(pickle.dumps(hits))
        data["hit"], data["log"] = hits, "by its last letter"
        suffix = Path(eval_file).suffix
        table = stem.with_name(f"{stem.name}_judge_result{suffix}")
        data.to_csv(table, sep="\t") if suffix == ".tsv" else data.to_excel(table)
        result = {"split": ["none"], "Overall": [sum(hits) / len(hits)]}
        for category in sorted(set(data.get("category", []))):
            of_it = [hit for hit, each in zip(hits, data["category"], strict=True) if each == category]
            result[category] = [sum(of_it) / len(of_it)]
        frame = pd.DataFrame(result)
        frame.to_csv(stem.with_name(f"{stem.name}_acc.csv"))
        return frame

    @classmethod
    def report_primary_metric(cls, metrics):
        return {"Overall Acc": metrics["split=none|Overall"] * 100}

    @classmethod
    def report_judge_err(cls, prediction_file, *, total_samples, judge_model=None):
        return {"failed": 1 if judge_model == "flaky" else 0, "total": total_samples}


def build_dataset(dataset_name, **kwargs):
    root = Path(_root())
    warnings.warn(f"Dataset {dataset_name} is not officially supported.", stacklevel=1)
    return Stand(dataset_name, root, **kwargs) if (root / f"{dataset_name}.tsv").exists() else None
