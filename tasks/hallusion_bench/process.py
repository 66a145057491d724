"""HallusionBench: `question_id` starts again in each set, so the row number is the id; several rows share a picture.

Rows of the split `non_image` have no picture.
"""

from flagmm.dataset.conversion import Conversion


def process(cfg):
    with Conversion(cfg) as out:
        for number, row in enumerate(out.rows()):
            name = (row["filename"] or "").removeprefix("./").rpartition(".")[0].replace("/", "_")
            out.add(
                question_id=number,
                question=row["question"],
                question_type="yes-no",
                answer={"1": "yes", "0": "no"}[row["gt_answer"]],
                answer_details=row["gt_answer_details"],
                img_path=out.image(row["image"], name) if row["image"] else None,
                sub_task=f"{row['category']}_{row['subcategory']}",
                category=row["category"],
                subcategory=row["subcategory"],
                set_id=row["set_id"],
                figure_id=row["figure_id"],
                question_number=row["question_id"],
                visual_input=row["visual_input"],
            )
