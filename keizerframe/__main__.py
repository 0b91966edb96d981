"""``python -m keizerframe``: the command line."""

from keizerframe.cli import run

run()
