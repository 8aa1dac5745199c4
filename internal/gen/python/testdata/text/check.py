"""Comments of a .proto arrive as they are, and end nothing."""

from pathlib import Path

import text_idem


def test_docstrings():
    lines = [line.strip() for line in (text_idem.CommentedIdem.__doc__ or "").splitlines()]
    assert lines[2:] == [
        'One " quote, three """ quotes, a back\\slash, \\N{no name}, a tab\there, ünïcödé 東京.',
        "An indented line.",
        "",
        'A right-to-left override \u202e and the end of a docstring: """',
        "",
    ]
    assert "Ends in a backslash \\" in (text_idem.StateIdem.__doc__ or "")


def test_source():
    assert "\u202e" not in Path(text_idem.__file__).read_text(encoding="utf-8")
