"""DocVQA: a page has several questions, a question several types and several accepted answers (none in `test`)."""

from flagmm.dataset.conversion import Conversion


def process(cfg):
    with Conversion(cfg) as out:
        for row in out.rows():
            types = row["question_types"] or []
            out.add(
                question_id=row["questionId"],
                question=row["question"],
                question_type="short-answer",
                answer=row["answers"],
                img_path=out.image(row["image"], f"{row['docId']}_{row['ucsf_document_page_no']}"),
                sub_task=types[0] if types else None,
                question_types=types,
            )
