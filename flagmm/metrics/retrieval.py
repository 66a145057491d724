"""How well images and captions find each other: recall at 1, 5 and 10 and the ranks, in both directions.

Reference: FlagEvalMM fef27ec6, `flagevalmm/evaluator/retrieval_evaluator.py:i2t` and `t2i`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flagmm.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

RECALL_AT = (1, 5, 10)


def score_retrieval(similarity: ArrayLike, *, captions_per_image: int = 1) -> dict[str, float]:
    """Return `{i2t,t2i}_R@{1,5,10}` in percent, their mean, and the median and mean ranks, counted from 1.

    Args:
        similarity: one row per image, one column per caption; caption j belongs to image j // captions_per_image.
        captions_per_image: the same for every image.

    An image's rank is that of the best placed of its own captions. Of equal similarities the later one comes first, as
    in the reference where its sort keeps their order. A median between two ranks is rounded down. No images, no keys.

    Raises:
        DataError: the matrix has another shape, or holds NaN.
    """
    import numpy as np

    matrix = np.asarray(similarity, dtype=float)
    if matrix.size == 0:
        return {}
    _check_matrix(matrix, captions_per_image)
    image_ranks, caption_ranks = _rank_captions(matrix, captions_per_image), _rank_images(matrix, captions_per_image)
    recalls = _recalls("i2t", image_ranks) | _recalls("t2i", caption_ranks)
    mean_recall = sum(recalls.values()) / len(recalls)
    return recalls | {"mean_recall": mean_recall} | _ranks("i2t", image_ranks) | _ranks("t2i", caption_ranks)


def _check_matrix(matrix: np.ndarray[Any, Any], captions_per_image: int) -> None:
    import numpy as np

    if matrix.ndim != 2 or captions_per_image < 1 or matrix.shape[1] != matrix.shape[0] * captions_per_image:
        raise DataError(
            f"similarities have the shape {matrix.shape}; expected one row per image and {captions_per_image} columns "
            "(captions) per row"
        )
    if np.isnan(matrix).any():
        raise DataError("similarities hold NaN, which has no rank")


def _rank_captions(matrix: np.ndarray[Any, Any], captions: int) -> np.ndarray[Any, Any]:
    """Return for each image how many captions stand before the best of its own."""
    import numpy as np

    ranks = np.empty(len(matrix))
    for image, row in enumerate(matrix):
        own = row[image * captions : (image + 1) * captions]
        best = own.max()
        last = image * captions + int(np.flatnonzero(own == best)[-1])
        ranks[image] = np.count_nonzero(row > best) + np.count_nonzero(row[last + 1 :] == best)
    return ranks


def _rank_images(matrix: np.ndarray[Any, Any], captions: int) -> np.ndarray[Any, Any]:
    """Return for each caption how many images stand before its own."""
    import numpy as np

    ranks = np.empty(matrix.shape[1])
    for image in range(len(matrix)):
        columns = slice(image * captions, (image + 1) * captions)
        own = matrix[image, columns]
        before = np.count_nonzero(matrix[:, columns] > own, axis=0)
        ranks[columns] = before + np.count_nonzero(matrix[image + 1 :, columns] == own, axis=0)
    return ranks


def _recalls(direction: str, ranks: np.ndarray[Any, Any]) -> dict[str, float]:
    return {f"{direction}_R@{limit}": 100.0 * float((ranks < limit).sum()) / len(ranks) for limit in RECALL_AT}


def _ranks(direction: str, ranks: np.ndarray[Any, Any]) -> dict[str, float]:
    import numpy as np

    return {
        f"{direction}_median_rank": float(math.floor(np.median(ranks)) + 1),
        f"{direction}_mean_rank": float(ranks.mean()) + 1,
    }
