"""How the tests say that a call is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from idemspec import Code, IdemError


def fault(code: Code, call: Callable[..., Any], *args: Any, **kwargs: Any) -> IdemError:
    """The error of a call that must fail with a code."""
    with pytest.raises(IdemError) as caught:
        call(*args, **kwargs)
    assert caught.value.code == code, caught.value
    return caught.value
