"""MMStar: the options stand inside the question, so `options` stays empty."""

from flagmm.dataset.conversion import Conversion


def process(cfg):
    with Conversion(cfg) as out:
        for row in out.rows():
            out.add(
                question_id=row["index"],
                question=row["question"],
                question_type="multiple-choice",
                answer=row["answer"],
                img_path=out.image(row["image"], str(row["index"])),
                sub_task=row["category"],
                l2_category=row["l2_category"],
                source=row["meta_info"]["source"],
            )
