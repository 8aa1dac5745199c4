"""What a team hashes where it has no key: AWS Lambda Powertools takes the MD5 of sorted JSON."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message


def of_dict(data: dict[str, Any]) -> str:
    """As Powertools does: its payload is a dict already."""
    return hashlib.md5(json.dumps(data, sort_keys=True).encode()).hexdigest()


def of_message(m: Message) -> str:
    """The same for a message, which has to become a dict first."""
    return of_dict(MessageToDict(m, preserving_proto_field_name=True))
