"""MMMU-Pro: all questions are choices. Options were shuffled with the picture tokens in them, so tokens are out of
order and may repeat; the config "vision" has one picture of the screen and no question.
"""

from flagmm.dataset.conversion import Conversion, literal_list, option_list, place_images
from flagmm.metrics.mmmu import DOMAIN_OF


def process(cfg):
    convert = screenshot if cfg.dataset_name == "vision" else standard
    with Conversion(cfg) as out:
        for row in out.rows():
            out.add(
                question_id=row["id"],
                answer=row["answer"],
                sub_task=row["subject"],
                domain=DOMAIN_OF.get(row["subject"]),
                **convert(row, out),
            )


def standard(row, out):
    placed = place_images(row["question"], option_list(row["options"]), out.numbered_images(row, row["id"]))
    return {
        "question": placed.question,
        "question_type": "multiple-choice",
        "options": placed.options,
        "img_path": placed.img_path,
        "topic_difficulty": row["topic_difficulty"],
        "img_type": literal_list(row["img_type"]),
    }


def screenshot(row, out):
    return {
        "question": "",
        "question_type": "vision",
        "options": option_list(row["options"]),
        "img_path": out.image(row["image"], row["id"]),
    }
