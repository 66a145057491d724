"""ChartQA: no id column, so the row number is the id; several questions have the same picture, which has no name."""

from flagmm.dataset.conversion import Conversion


def process(cfg):
    with Conversion(cfg) as out:
        for number, row in enumerate(out.rows()):
            out.add(
                question_id=number,
                question=row["question"],
                question_type="short-answer",
                answer=row["answer"],
                img_path=out.image(row["image"]),
                sub_task=row["type"],
            )
