"""TextVQA: questions are in lower case, `answers` are ten texts (none in `test`)."""

from flagmm.dataset.conversion import Conversion


def process(cfg):
    with Conversion(cfg) as out:
        for row in out.rows():
            out.add(
                question_id=row["question_id"],
                question=row["question"].capitalize(),
                question_type="short-answer",
                answer=row["answers"],
                img_path=out.image(row["image"], row["image_id"]),
                image_classes=row["image_classes"],
                ocr_tokens=row["ocr_tokens"],
            )
