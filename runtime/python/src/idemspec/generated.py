"""The handshake between generated code and these support modules (PLUG-006, VER-005)."""

from __future__ import annotations

SPEC_VERSION = "1.0.0"
"""The version of the specification that this package computes."""
CONTRACT = 1
"""What generated code may call here. It changes with names and arguments, on its own."""


def require(contract: int, source: str) -> None:
    """Called first in each generated file, with the contract that it was generated for and the
    .proto that it comes from; ImportError where this package has another one."""
    if contract == CONTRACT:
        return
    if contract > CONTRACT:
        mend = (
            "upgrade the idemspec package, or, where its sources are generated, generate "
            "idem/v1/options.proto again (include_imports)"
        )
    else:
        mend = f"generate the code of {source} again with the protoc-gen-idem of this version"
    raise ImportError(
        f"the code of {source} was generated for contract {contract} of {__package__}, "
        f"which has contract {CONTRACT}: {mend}"
    )
