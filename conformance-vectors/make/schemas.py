"""The JSON Schemas of the vectors and of the manifest: the shapes of chapter 12, closed.

The input of a vector whose answer is INPUT_INVALID has any shape: that is what it is about.
"""

from typing import Any

from reference import canonical_text, headers, key, retry
from reference.errors import CODES

Schema = dict[str, Any]
DRAFT = "https://json-schema.org/draft/2020-12/schema"

TEXT: Schema = {"type": "string"}
INTEGER: Schema = {"$ref": "#/$defs/integer"}
COUNT: Schema = {"$ref": "#/$defs/count"}
OCTETS: Schema = {"$ref": "#/$defs/octets"}
BOOLEAN: Schema = {"type": "boolean"}
TRUE: Schema = {"const": True}
FINGERPRINT: Schema = {"type": "string", "pattern": "^[0-9a-f]{8}-[0-9a-f]{16}$"}
HASH: Schema = {"type": "string", "pattern": "^[0-9a-f]{16}$"}

DEFS: dict[str, Schema] = {
    "integer": {"type": "string", "pattern": "^(0|-?[1-9][0-9]*)$"},
    "count": {"type": "string", "pattern": "^(0|[1-9][0-9]*)$"},
    "octets": {"type": "string", "pattern": "^([0-9a-f]{2})*$"},
}


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def closed(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def all_of(names: str, schema: Schema) -> dict[str, Schema]:
    return dict.fromkeys(names.split(), schema)


def listed(schema: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": schema, **more}


def choice(values: Any) -> Schema:
    return {"enum": list(values)}


# --- Inputs

DIGITS = {"fraction_digits": {"type": "string", "pattern": "^[0-9]$"}}
EDGE = closed(all_of("from to", TEXT))
POLICY_VALUES = all_of(" ".join(retry.BOUNDS), INTEGER)
SCHEDULE = {"backoff_schedule": listed(INTEGER)}
SCALE = {"max_scale": COUNT}
SEGMENTS = {"segments": listed(ref("segment"), minItems=1)}

DEFS |= {
    "decimal": {
        "oneOf": [closed({"text": TEXT}, SCALE), closed({"hex": OCTETS}, SCALE)],
    },
    "money": closed({"currency_code": TEXT, **all_of("units nanos", INTEGER)}),
    "timestamp": {
        "oneOf": [
            closed({"rfc3339": TEXT, **DIGITS}),
            closed({**all_of("seconds nanos", INTEGER), **DIGITS}),
            closed({"epoch": INTEGER, "unit": choice(canonical_text.UNITS), **DIGITS}),
        ]
    },
    "duration": closed({**all_of("seconds nanos", INTEGER), **DIGITS}),
    "date": closed(all_of("year month day", INTEGER)),
    "uuid": closed({"text": TEXT}),
}
VALUES: dict[str, Schema] = {
    "string": TEXT,
    "hex_utf8": OCTETS,
    "utf16": listed({"type": "string", "pattern": "^[0-9a-f]{4}$"}),
    "bytes": OCTETS,
    "bool": BOOLEAN,
    "enum": INTEGER,
    "int": closed({"type": choice(canonical_text.INTEGER_TYPES), "value": INTEGER}),
    "absent": TRUE,
    "missing": TRUE,
    **{name: ref(name) for name in "decimal money timestamp duration date uuid".split()},
}
DEFS |= {
    "value": {"oneOf": [closed({name: schema}) for name, schema in VALUES.items()]},
    "component": {"anyOf": [ref("value"), closed({"sha256": ref("value")})]},
    "segment": {
        "oneOf": [
            closed({"literal": {"type": "string", "pattern": "^[A-Za-z0-9._-]+$"}}),
            closed({"component": ref("component")}),
        ]
    },
    "policy": closed(all_of("backoff_base backoff_max backoff_jitter", INTEGER), SCHEDULE),
    "record": {
        "oneOf": [
            {"type": "null"},
            *(
                closed(
                    {
                        "state": {"const": state},
                        **all_of("fence attempts redrive_count position", COUNT),
                        "owner": TEXT,
                        **required,
                    },
                    {"fingerprint": FINGERPRINT, **optional},
                )
                for state, required, optional in (
                    ("PROCESSING", {"lease_until_ms": COUNT}, {}),
                    ("SUCCESS", {}, {"result": OCTETS}),
                    ("FAILED", {}, {}),
                    ("DEAD", {}, {}),
                )
            ),
        ]
    },
    "header": {
        "type": "array",
        "prefixItems": [TEXT, {"oneOf": [{"type": "null"}, ref("header_value")]}],
        "minItems": 2,
        "items": False,
    },
    "header_value": {
        "oneOf": [closed({"utf8": TEXT}), closed({"hex": OCTETS}), closed({"int": INTEGER})]
    },
    "decision": {
        "oneOf": [
            closed(
                {
                    "action": choice(("RETRY", "HOLD")),
                    **all_of("delay_ms retry_count hold_count", COUNT),
                    "reject_reason": TEXT,
                }
            ),
            closed(
                {
                    "action": {"const": "DEFER"},
                    **all_of("delay_ms retry_count hold_count", COUNT),
                }
            ),
            closed(
                {"action": {"const": "DEAD_LETTER"}, "reject_reason": TEXT},
                all_of("retry_count hold_count", COUNT),
            ),
            closed(
                {"action": {"const": "REDRIVE"}, "redrive_count": COUNT},
                {"drop_fingerprint": TRUE},
            ),
        ]
    },
}
TRANSPORT = {"transport": choice(headers.TRANSPORTS), "headers": listed(ref("header"))}
KEY_OR_HASH = {"oneOf": [closed({"key": TEXT, "n": INTEGER}), closed({"hash": HASH, "n": INTEGER})]}
KINDS = ("http", "grpc", "sqlstate", "kafka", "net")

INPUTS: dict[str, Schema] = {
    **{name: ref(name) for name in "decimal money timestamp duration date uuid component".split()},
    "key": closed(SEGMENTS),
    "fingerprint": closed({"template": TEXT, **SEGMENTS}),
    "hash": closed({"hex": OCTETS}),
    "shard": KEY_OR_HASH,
    "lane": KEY_OR_HASH,
    "kafka_partition": closed({"key": TEXT, "n": INTEGER}),
    "policy": closed(
        {
            "header": closed({}, {**POLICY_VALUES, **SCHEDULE}),
            "schema": closed({}, {**POLICY_VALUES, **SCHEDULE}),
            "limit": closed({}, POLICY_VALUES),
        }
    ),
    "backoff": closed(
        {"key": TEXT, "retry_count": INTEGER, "policy": ref("policy")}, {"retry_after_ms": COUNT}
    ),
    "decide": closed(
        {
            "outcome": choice(retry.OUTCOMES),
            "key": TEXT,
            **all_of("retry_count max_retry hold_count max_hold", INTEGER),
            "policy": ref("policy"),
        },
        {"reason": TEXT, **all_of("retry_after_ms wait_ms", COUNT)},
    ),
    "admit": closed(
        {
            "record": ref("record"),
            "delivery": closed(all_of("redrive_count position", COUNT)),
            **all_of("now_ms lease_ms max_attempts", COUNT),
            "owner": TEXT,
        },
        {"fingerprint": FINGERPRINT},
    ),
    "transition": closed({"transitions": listed(EDGE), **all_of("current from to", TEXT)}),
    "classify": {
        "oneOf": [
            closed({kind: INTEGER if kind in ("http", "grpc", "kafka") else TEXT}) for kind in KINDS
        ]
    },
    "headers": closed(TRANSPORT),
    "next_headers": closed(
        {**TRANSPORT, "decision": ref("decision"), **all_of("scope topic", TEXT), "now_ms": COUNT}
    ),
    "message": closed(
        {"type": TEXT, "payload": OCTETS},
        {"context": closed({}, all_of("event_id topic produced_at traceparent tracestate", TEXT))},
    ),
}

# --- Outputs

ONE_TEXT = closed({"text": TEXT})
KEY_TEXT = {"type": "string", "maxLength": key.LONGEST_KEY}
COUNTS = all_of("retry_count hold_count", COUNT)

OUTPUTS: dict[str, Schema] = {
    **dict.fromkeys("decimal money timestamp duration date uuid component".split(), ONE_TEXT),
    "key": closed({"key": KEY_TEXT}),
    "fingerprint": closed({"fingerprint": FINGERPRINT}),
    "hash": closed({"xxh64": HASH}),
    "shard": closed({"shard": COUNT}),
    "lane": closed({"lane": COUNT}),
    "kafka_partition": closed({"partition": COUNT}),
    "policy": closed(
        all_of(" ".join(retry.BOUNDS), COUNT), {"backoff_schedule": listed(COUNT, minItems=1)}
    ),
    "backoff": closed(all_of("delay_ms base_ms jitter_ms", COUNT)),
    "decide": {
        "oneOf": [
            closed({"action": {"const": "ACK"}}),
            closed(
                {
                    "action": choice(("RETRY", "HOLD")),
                    **COUNTS,
                    "delay_ms": COUNT,
                    "reject_reason": TEXT,
                }
            ),
            closed({"action": {"const": "DEFER"}, **COUNTS, "delay_ms": COUNT}),
            closed({"action": {"const": "DEAD_LETTER"}, **COUNTS, "reject_reason": TEXT}),
        ]
    },
    "admit": {
        "oneOf": [
            closed(
                {
                    "admission": {"const": "PROCEED"},
                    **all_of("fence attempts lease_until_ms", COUNT),
                    "recovered": BOOLEAN,
                }
            ),
            closed({"admission": {"const": "DUPLICATE"}, "result": OCTETS}),
            closed({"admission": {"const": "IN_PROGRESS"}, "wait_ms": COUNT}),
            closed({"admission": choice(("KEY_REUSED", "STALE", "CRASH_LOOP"))}),
        ]
    },
    "transition": closed({"verdict": choice(("APPLY", "DUPLICATE", "EARLY", "CONFLICT"))}),
    "classify": closed({"class": choice(("OK", "RETRYABLE", "THROTTLED", "NON_RETRYABLE"))}),
    "headers": closed(
        {
            "envelope": closed({}, {header.name: TEXT for header in headers.TABLE}),
            "unknown": listed(ref("header")),
            "warnings": listed(choice(header.name for header in headers.TABLE if header.context)),
        }
    ),
    "next_headers": closed({"headers": listed(ref("header"))}),
    "message": closed(
        {"event_type": TEXT, "idempotency_key": KEY_TEXT, "headers": listed(ref("header"))},
        {
            "idempotency_key_previous": KEY_TEXT,
            "biz_key": KEY_TEXT,
            "fingerprint": FINGERPRINT,
        },
    ),
}


def vectors() -> Schema:
    """A file of vectors: what all have in common, then a shape for each op."""
    common = closed(
        {
            "id": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"},
            "op": choice(INPUTS),
            "spec": listed(
                {"type": "string", "pattern": "^[A-Z]+-[0-9]{3}$"}, minItems=1, uniqueItems=True
            ),
            "input": {"type": "object"},
            "result": choice(("valid", "invalid")),
        },
        {
            "output": {"type": "object"},
            "error": choice(sorted(CODES)),
            "note": {"type": "string", "minLength": 1},
            "steps": listed(TEXT, minItems=1),
        },
    )
    valid = {"properties": {"result": {"const": "valid"}}}
    shapeless = {"properties": {"error": {"const": "INPUT_INVALID"}}, "required": ["error"]}
    rules: list[Schema] = [
        {
            "if": valid,
            "then": {"required": ["output"], "properties": {"error": False}},
            "else": {"required": ["error"], "properties": {"output": False, "steps": False}},
        },
        {
            "if": {"properties": {"op": choice(("key", "fingerprint"))}},
            "then": {"if": valid, "then": {"required": ["steps"]}},
            "else": {"properties": {"steps": False}},
        },
    ]
    for op, schema in INPUTS.items():
        rules.append(
            {
                "if": {"properties": {"op": {"const": op}}},
                "then": {
                    "properties": {"output": OUTPUTS[op]},
                    "if": {"not": shapeless},
                    "then": {"properties": {"input": schema}},
                },
            }
        )
    return {
        "$schema": DRAFT,
        "title": "A file of vectors of the idem specification",
        "type": "array",
        "minItems": 1,
        "items": {**common, "allOf": rules},
        "$defs": DEFS,
    }


def manifest() -> Schema:
    group = closed(
        {
            "group": TEXT,
            "file": {"type": "string", "pattern": "^[a-z_]+\\.json$"},
            "op": choice(INPUTS),
            "count": {"type": "integer", "minimum": 1},
            "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "required": BOOLEAN,
        }
    )
    return {
        "$schema": DRAFT,
        "title": "The manifest of the vectors of the idem specification",
        **closed(
            {
                "spec": {"type": "string", "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+$"},
                "groups": listed(group, minItems=1),
            }
        ),
    }


FILES = {"vectors.schema.json": vectors, "manifest.schema.json": manifest}
