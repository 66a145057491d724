"""`download_file_with_progress`, by the name under which a task's process.py imports it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from flagmm.config.secrets import mask_url
from flagmm.errors import DataError

if TYPE_CHECKING:
    from requests import Response

_TIMEOUT = 60.0  # seconds without a byte
_NAMELESS = "downloaded_file"


def download_file_with_progress(
    url: str, save_path: str | os.PathLike[str] | None = None, chunk_size: int = 1 << 20, max_threads: int = 4
) -> str:
    """Fetch a file, with a progress bar; one that is there with all its bytes stays as it is.

    Args:
        save_path: the file, or a folder for it; None means the working directory. The name is then the URL's.
        chunk_size: bytes that are read at once.
        max_threads: accepted, and of no effect; the file comes over one connection.

    Returns:
        Where it is.

    Raises:
        DataError: it cannot be fetched whole; nothing is left behind.
    """
    import requests

    name = Path(unquote(urlsplit(url).path)).name or _NAMELESS
    path = Path(name if save_path is None else save_path)
    path = path / name if path.is_dir() else path
    partial = path.with_name(f"{path.name}.part")
    try:
        with requests.get(url, stream=True, timeout=_TIMEOUT) as response:
            response.raise_for_status()
            total = int(response.headers.get("content-length", 0))
            if not (total and path.is_file() and path.stat().st_size == total):
                path.parent.mkdir(parents=True, exist_ok=True)
                _save(response, partial, total, chunk_size)
                partial.replace(path)
    except (requests.RequestException, OSError) as error:
        partial.unlink(missing_ok=True)
        raise DataError(f"{mask_url(url)}: cannot be fetched: {type(error).__name__}; check the address") from error
    return str(path)


def _save(response: Response, path: Path, total: int, chunk_size: int) -> None:
    from tqdm import tqdm

    written = 0
    with open(path, "wb") as file, tqdm(total=total or None, unit="B", unit_scale=True, desc=path.stem) as bar:
        for chunk in response.iter_content(chunk_size=chunk_size):
            written += file.write(chunk)
            bar.update(len(chunk))
    if total and written < total:
        raise OSError(f"{written} of {total} bytes came")
