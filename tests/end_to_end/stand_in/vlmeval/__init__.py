"""A stand-in for VLMEvalKit, with its manners: it prints, warns, logs keys, and changes the process on import."""

import logging
import os
import ssl
import warnings

print("stand-in: imported")
logging.basicConfig(format="%(message)s")
ssl._create_default_https_context = ssl._create_unverified_context
warnings.filterwarnings("error", message="a message of its own")
os.environ["FROM_ITS_DOTENV"] = "theirs"
os.environ["OPENAI_API_KEY"] = "sk-of-its-dotenv"
