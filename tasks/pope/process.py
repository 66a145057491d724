"""POPE: `question_id` starts again in each category, and a picture has 18 questions."""

from flagmm.dataset.conversion import Conversion


def process(cfg):
    with Conversion(cfg) as out:
        for row in out.rows():
            out.add(
                question_id=f"{row['category']}_{row['question_id']}",
                question=row["question"],
                question_type="yes-no",
                answer=row["answer"],
                img_path=out.image(row["image"], row["image_source"]),
                sub_task=row["category"],
            )
