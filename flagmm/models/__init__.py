"""Models: one async interface (`client.py`), one module per kind of model, and what wraps them.

`http.py` (endpoints; its bodies in `openai_body.py`, its replies in `openai_reply.py` and `sse.py`), `ocr.py` (the
embedded reader), `offline.py` (random and scripted). `stack.py` puts cache, retry and rate limit around one.
Nothing here knows of data sets.
"""

from flagmm.models.http import HttpClient
from flagmm.models.ocr import OcrClient
from flagmm.models.offline import RandomClient, ScriptedClient

__all__ = ["HttpClient", "OcrClient", "RandomClient", "ScriptedClient"]
