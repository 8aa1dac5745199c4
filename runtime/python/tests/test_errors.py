"""Errors (GEN-006) and the handshake with generated code (PLUG-006)."""

from __future__ import annotations

import ast
import importlib
import pickle
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import idemspec
import pytest
from idemspec import CONTRACT, Code, IdemError, Redacted, decimal, digest, money, text
from idemspec.generated import require

PACKAGE = Path(idemspec.__file__).parent
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            IdemError("DECIMAL_SYNTAX", "is not a decimal", "amount", "1,5", 1),
            'amount "1,5" is not a decimal (DECIMAL_SYNTAX at byte 1)',
        ),
        (
            IdemError("KEY_COMPONENT_MISSING", "is missing", "order.id"),
            "order.id is missing (KEY_COMPONENT_MISSING)",
        ),
        (
            IdemError("UUID_SYNTAX", "is not a UUID", value=""),
            '"" is not a UUID (UUID_SYNTAX)',
        ),
        (IdemError("KEY_EMPTY", "is empty"), "the value is empty (KEY_EMPTY)"),
        (IdemError("INT_RANGE", "is too big", "n", 0, 0), 'n "0" is too big (INT_RANGE at byte 0)'),
    ],
)
def test_an_error_is_a_sentence(error: IdemError, sentence: str) -> None:
    """Field, value, problem, code and offset, each where there is one."""
    assert str(error) == sentence
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x" * 65, "x" * 64),
        ("é" * 33, "é" * 32),
        ("x" + "é" * 40, "x" + "é" * 31),
        ("x" + "😀" * 40, "x" + "😀" * 15),
        ("a\udcffb", "a\\udcffb"),
        (b"a\xffb", "a\\xffb"),
        (b"x" * 65, "x" * 64),
        (12, "12"),
    ],
)
def test_a_value_is_cut(value: object, shown: str) -> None:
    """At most 64 bytes are shown, up to a character's edge, and ill-formed parts as escapes."""
    assert IdemError("INPUT_INVALID", "is odd", value=value).value == shown


def test_redaction() -> None:
    """A field marked debug_redact never shows its value, wherever the error goes."""
    secret = "4111 1111"
    calls: list[Callable[[], str]] = [
        lambda: decimal(secret, None, Redacted("card")),
        lambda: digest(secret + "\ud800", Redacted("card")),
        lambda: text(secret + "\ud800", Redacted("card")),
        lambda: money(secret, 0, 0, Redacted("card")),
    ]
    for call in calls:
        with pytest.raises(IdemError) as caught:
            call()
        error = caught.value
        assert error.value is None
        assert error.field == "card"
        for shown in (str(error), repr(error), repr(error.args), repr(vars(error))):
            assert "4111" not in shown
            assert "card" in shown


def test_errors_survive_a_pickle() -> None:
    """A worker's error arrives whole in another process."""
    error = IdemError("DECIMAL_SYNTAX", "is not a decimal", "amount", "1,5", 1)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.field) == (str(error), "DECIMAL_SYNTAX", "amount")


def test_codes_are_those_of_chapter_13() -> None:
    """The type of codes and the table of the specification have the same codes."""
    table = (ROOT / "spec" / "13-errors.md").read_text()
    assert list(get_args(Code)) == re.findall(r"^\| `([A-Z_0-9]+)` \|", table, re.MULTILINE)


def test_handshake() -> None:
    """Generated code of another contract says at import what to generate again."""
    require(CONTRACT, "shop/v1/order.proto")
    with pytest.raises(
        ImportError, match=r"contract 0 of idemspec.*1: generate the code of a.proto"
    ):
        require(CONTRACT - 1, "a.proto")
    with pytest.raises(ImportError, match=r"contract 2 of idemspec.*1: upgrade .* idem/v1/options"):
        require(CONTRACT + 1, "a.proto")


def test_modules_can_be_emitted() -> None:
    """Sources that are copied into other trees import each other relatively, and no name of theirs
    begins with an underscore, which an embedding would drop."""
    for path in PACKAGE.glob("*.py"):
        assert path.name == "__init__.py" or not path.name.startswith("_")
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                assert node.module in sys.stdlib_module_names | {"xxhash", "__future__"} or (
                    node.module == "collections.abc"
                )
            if isinstance(node, ast.Import):
                assert all(alias.name in sys.stdlib_module_names for alias in node.names)


def test_the_package_can_be_relocated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under another name it computes the same."""
    target = tmp_path / "acme" / "support"
    shutil.copytree(PACKAGE, target, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.syspath_prepend(tmp_path)
    relocated = importlib.import_module("acme.support")
    assert relocated.decimal("1.50") == "1.5"
    with pytest.raises(ImportError, match=r"of acme\.support"):
        importlib.import_module("acme.support.generated").require(2, "a.proto")


def test_all_is_what_is_there() -> None:
    """Every name of __all__ can be imported."""
    assert all(hasattr(idemspec, name) for name in idemspec.__all__)
