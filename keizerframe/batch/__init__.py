"""Batch rescoring: data sets larger than memory, to partitioned parquet."""

from keizerframe.batch.door import Progress, Rescored, rescore

__all__ = ["Progress", "Rescored", "rescore"]
