"""MME: `question_id` is the name of the picture, so the two questions of a picture share it."""

from collections import Counter

from flagmm.dataset.conversion import Conversion


def process(cfg):
    seen = Counter()
    with Conversion(cfg) as out:
        for row in out.rows():
            pair = row["question_id"]
            out.add(
                question_id=f"{pair}_{seen[pair]}",
                question=row["question"],
                question_type="yes-no",
                answer=row["answer"].lower(),
                img_path=out.image(row["image"], pair),
                sub_task=row["category"],
                pair_id=pair,
            )
            seen[pair] += 1
