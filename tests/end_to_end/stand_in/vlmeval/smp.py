"""Reading tables, as VLMEvalKit's functions of these names do."""

import pandas as pd


def load(path):
    return pd.read_csv(path, sep="\t") if path.endswith(".tsv") else pd.read_excel(path)
