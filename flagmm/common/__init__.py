"""Names under which task folders import a few helpers."""
