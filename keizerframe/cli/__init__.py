"""The command line: parses, calls a door, prints. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from cyclopts import CycloptsError

from keizerframe.cli import batch, questions, rounds, tables
from keizerframe.cli.shell import app, notes
from keizerframe.errors import KeizerError, KeizerWarning, PairingError, RulesError, SeasonError, UnknownNameError

#: Importing them registers their commands.
COMMANDS = (tables, questions, batch, rounds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    0 = done, 1 = the data are faulty, 2 = the command is (unknown preset, option or value, a wish that cannot be met),
    130 = interrupted.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", KeizerWarning)
            warnings.showwarning = _show_warning
            status = int(app(arguments, exit_on_error=False, print_error=True, error_console=notes) or 0)
            sys.stdout.flush()
            return status
    except CycloptsError:
        return 2
    except BrokenPipeError:
        # Whoever read the output has had enough; what Python would still flush goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (UnknownNameError, RulesError, PairingError) as fault:
        notes.print(f"keizerframe: {fault}", style="red", highlight=False, markup=False, soft_wrap=True)
        return 2
    except SeasonError as fault:
        notes.print(f"keizerframe: {fault}", highlight=False, markup=False, soft_wrap=True)
        return 1
    except (KeizerError, OSError) as fault:
        notes.print(f"keizerframe: {fault}", highlight=False, markup=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        notes.print("keizerframe: interrupted")
        return 130


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    notes.print(f"warning: {message}", style="yellow", highlight=False, markup=False, soft_wrap=True)


def run() -> None:
    """Entry point of the console script."""
    sys.exit(main())
