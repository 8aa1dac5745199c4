"""The README's examples."""

from __future__ import annotations

import doctest
from pathlib import Path


def test_the_readme_says_what_happens() -> None:
    """Every example gives the answer that stands below it."""
    readme = Path(__file__).parents[1] / "README.md"
    failed, tried = doctest.testfile(str(readme), module_relative=False)
    assert (failed, tried) == (0, 5)
