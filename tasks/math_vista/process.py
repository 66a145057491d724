"""MathVista: `query` holds hint, question and choices, so `options` stays empty; the answer to a choice is its text."""

from flagmm.dataset.conversion import Conversion
from flagmm.metrics.option_labels import option_labels

FROM_METADATA = ("category", "context", "grade", "language", "skills", "source")


def process(cfg):
    with Conversion(cfg) as out:
        for row in out.rows():
            metadata = row["metadata"]
            out.add(
                question_id=row["pid"],
                question=row["query"],
                question_type="multiple-choice" if row["choices"] else "short-answer",
                choices=row["choices"] or None,
                answer=answer(row["answer"], row["choices"]),
                answer_raw=row["answer"],
                answer_type=row["answer_type"],
                precision=row["precision"],
                unit=row["unit"],
                img_path=out.image(row["decoded_image"], row["pid"]),
                sub_task=metadata["task"],
                **{key: metadata[key] for key in FROM_METADATA},
            )


def answer(text, choices):
    """The letter of a choice; of choices with the same text any is right, so the first stands for them.

    None where the answer is withheld, as in the split `test`.
    """
    if not text:
        return None
    return option_labels(len(choices))[choices.index(text)] if choices else text
