"""Metrics: pure functions of plain values, each with its reference and its empty cases in its docstring."""
