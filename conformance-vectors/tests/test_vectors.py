"""The files that are committed: CONF-050."""

import copy
import hashlib
import json
from pathlib import Path

import jsonschema
import pytest
import schemas

from reference import conformance

VECTORS = Path(__file__).resolve().parent.parent
MANIFEST = json.loads((VECTORS / "manifest.json").read_bytes())
FILES = {
    group["file"]: json.loads((VECTORS / group["file"]).read_bytes())
    for group in MANIFEST["groups"]
}
BY_ID = {vector["id"]: vector for vectors in FILES.values() for vector in vectors}
VALIDATOR = jsonschema.Draft202012Validator(
    json.loads((VECTORS / "schema" / "vectors.schema.json").read_bytes())
)


def test_the_manifest_names_every_file_with_its_count_and_digest():
    jsonschema.Draft202012Validator(schemas.manifest()).validate(MANIFEST)
    for group in MANIFEST["groups"]:
        octets = (VECTORS / group["file"]).read_bytes()
        assert hashlib.sha256(octets).hexdigest() == group["sha256"], group["file"]
        assert len(FILES[group["file"]]) == group["count"], group["file"]
    others = {"manifest.json", "bulk.json"}
    assert {path.name for path in VECTORS.glob("*.json")} - others == set(FILES)


def test_there_is_a_group_for_every_operation():
    """GEN-001: what a port can claim, the vectors can show."""
    assert {group["op"] for group in MANIFEST["groups"]} == set(conformance.OPERATIONS)


def test_ids_are_unique_and_begin_with_their_group():
    assert len(BY_ID) == sum(len(vectors) for vectors in FILES.values())
    for file, vectors in FILES.items():
        prefix = file.removesuffix(".json").replace("_", "-") + "-"
        for vector in vectors:
            assert vector["id"].startswith(prefix)


def test_no_two_vectors_ask_the_same():
    asked = {}
    for vector in BY_ID.values():
        question = vector["op"] + json.dumps(vector["input"], sort_keys=True)
        assert asked.setdefault(question, vector["id"]) == vector["id"]


def test_a_file_has_one_vector_a_line():
    for file, vectors in FILES.items():
        lines = (VECTORS / file).read_text(encoding="ascii").splitlines()
        assert len(lines) == len(vectors) + 2, file
        assert (lines[0], lines[-1]) == ("[", "]"), file


def test_the_reference_gives_every_answer():
    for vector in BY_ID.values():
        answer = conformance.answer(vector["op"], vector["input"])
        expected = {name: vector[name] for name in ("output", "error") if name in vector}
        answer.pop("detail", None)
        assert answer == expected, vector["id"]


def test_steps_join_to_the_key():
    for vector in FILES["key.json"]:
        if vector["result"] == "valid":
            assert ":".join(vector["steps"]) == vector["output"]["key"], vector["id"]


def test_the_committed_schemas_are_those_that_are_made():
    for name, schema in schemas.FILES.items():
        assert json.loads((VECTORS / "schema" / name).read_bytes()) == schema()


def changed(vector_id: str, change) -> list:
    vector = copy.deepcopy(BY_ID[vector_id])
    change(vector)
    return [vector]


@pytest.mark.parametrize(
    ("vector_id", "change"),
    [
        ("decimal-one", lambda v: v.update(comment="x")),
        ("decimal-one", lambda v: v.pop("spec")),
        ("decimal-one", lambda v: v.update(spec=[])),
        ("decimal-one", lambda v: v.update(id="Decimal_One")),
        ("decimal-one", lambda v: v.update(op="decimals")),
        ("decimal-one", lambda v: v.update(error="DECIMAL_SYNTAX")),
        ("decimal-one", lambda v: v.pop("output")),
        ("decimal-one", lambda v: v.update(result="invalid")),
        ("decimal-one", lambda v: v.update(steps=["1"])),
        ("decimal-one", lambda v: v["input"].update(hex="31")),
        ("decimal-one", lambda v: v["input"].update(scale="1")),
        ("decimal-one", lambda v: v["input"].update(max_scale=1)),
        ("decimal-one", lambda v: v["output"].update(number="1")),
        ("decimal-two-points", lambda v: v.update(error="DECIMAL_POINTS")),
        ("decimal-two-points", lambda v: v["input"].pop("text")),
        ("component-bool-true", lambda v: v["input"].update(bool="true")),
        ("key-payment", lambda v: v.pop("steps")),
        ("key-payment", lambda v: v["input"]["segments"].append({"literal": "a:b"})),
        ("decide-retryable-retry-0", lambda v: v["output"].pop("delay_ms")),
        ("decide-ok", lambda v: v["output"].update(delay_ms="0")),
        ("admit-example", lambda v: v["output"].update(recovered="true")),
        ("admit-failed", lambda v: v["input"]["record"].update(lease_until_ms="0")),
        ("headers-none", lambda v: v["output"]["envelope"].update(retries="1")),
        ("headers-equal-twice", lambda v: v["input"]["headers"][0].append(None)),
        ("next-headers-retry-of-no-headers", lambda v: v["input"]["decision"].update(action="ACK")),
    ],
)
def test_the_schema_is_closed(vector_id, change):
    VALIDATOR.validate([BY_ID[vector_id]])
    assert not VALIDATOR.is_valid(changed(vector_id, change))
