"""The parts of `bench_client.py`: a fast mock endpoint, synthetic data, the least possible client, a stopwatch.

Start with `scenarios.py`. Each part that uses CPU runs as a process of its own, so that none disturbs the
figures of another.
"""
