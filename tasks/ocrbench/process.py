"""OCRBench: no id column, so the row number is the id; `answer` lists what is accepted."""

from flagmm.dataset.conversion import Conversion
from flagmm.metrics.ocrbench import RECOGNITION_CATEGORIES


def process(cfg):
    with Conversion(cfg) as out:
        for number, row in enumerate(out.rows()):
            kind = row["question_type"]
            out.add(
                question_id=number,
                question=row["question"],
                question_type="short-answer",
                answer=row["answer"],
                img_path=out.image(row["image"], str(number)),
                sub_task=kind,
                ability="Text Recognition" if kind in RECOGNITION_CATEGORIES else kind,
                dataset=row["dataset"],
            )
