"""MMMU: a config for each subject; options, and answers where several are right, are lists stored as text.

The pictures are in the columns image_1 to image_7, the last ones empty; tokens in the question or in the options say
where they go.
"""

from flagmm.dataset.conversion import Conversion, accepted_answers, literal_list, option_list, place_images
from flagmm.metrics.mmmu import DOMAIN_OF


def process(cfg):
    with Conversion(cfg) as out:
        for config in out.configs():
            for row in out.rows(config):
                out.add(**item(row, out.numbered_images(row, row["id"])))


def item(row, images):
    placed = place_images(row["question"], option_list(row["options"]), images)
    is_choice = row["question_type"] == "multiple-choice"
    # not the config: copies with one config for all subjects have the same ids, such as validation_Art_Theory_1
    subject = "_".join(row["id"].split("_")[1:-1])
    return {
        "question_id": row["id"],
        "question": placed.question,
        "question_type": "multiple-choice" if is_choice else "short-answer",
        "options": placed.options or None,
        "answer": accepted_answers(row["answer"]),
        "img_path": placed.img_path,
        "sub_task": subject,
        "subject": subject,
        "domain": DOMAIN_OF.get(subject),
        "subfield": row["subfield"],
        "topic_difficulty": row["topic_difficulty"],
        "img_type": literal_list(row["img_type"]),
        "explanation": row["explanation"],
    }
