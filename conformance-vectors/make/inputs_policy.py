"""Policies in force: RETRY-001 to RETRY-004, CONF-035."""

from group import Group, without

SEVEN_DAYS = 604_800_000
DEFAULTS = {
    "max_retry": 5,
    "max_hold": 20,
    "backoff_base": 1,
    "backoff_jitter": 1000,
    "backoff_max": 300,
}
BOUNDS = {
    "max_retry": (0, 100),
    "max_hold": (0, 100),
    "backoff_base": (1, 86_400),
    "backoff_jitter": (0, 3_600_000),
    "backoff_max": (1, 604_800),
}


def texts(values):
    return {
        name: [str(entry) for entry in value] if name == "backoff_schedule" else str(value)
        for name, value in values.items()
    }


def ask(header=None, schema=None, limit=None):
    return {
        "header": texts(header or {}),
        "schema": texts(schema or {}),
        "limit": texts(limit or {}),
    }


def fill(g: Group) -> None:
    def add(slug, spec, want=None, note="", **given):
        """`want` is what differs from the defaults."""
        expected = texts({**DEFAULTS, **want}) if want is not None else None
        g.add(slug, ask(**given), spec, expected, note)

    add("defaults", "RETRY-001", {})
    for name, (lowest, highest) in BOUNDS.items():
        other = highest // 2
        word = name.replace("_", "-")
        add(f"{word}-of-the-header", "RETRY-001", {name: other}, header={name: other})
        add(f"{word}-of-the-schema", "RETRY-001", {name: other}, schema={name: other})
        add(f"{word}-header-before-schema", "RETRY-001", {name: other},
            header={name: other}, schema={name: highest})  # fmt: skip
        add(f"{word}-lower-header-before-schema", "RETRY-001", {name: lowest},
            header={name: lowest}, schema={name: other})  # fmt: skip
        add(f"{word}-lowest", "RETRY-004", {name: lowest}, header={name: lowest})
        add(f"{word}-highest", "RETRY-004", {name: highest}, header={name: highest})
        # Clamping: what the header or the schema asks for, and the default too.
        add(f"{word}-of-the-header-clamped", "RETRY-003", {name: other - 1},
            header={name: other}, limit={name: other - 1})  # fmt: skip
        add(f"{word}-of-the-schema-clamped", "RETRY-003", {name: other - 1},
            schema={name: other}, limit={name: other - 1})  # fmt: skip
        add(
            f"{word}-at-the-limit",
            "RETRY-003",
            {name: other},
            header={name: other},
            limit={name: other},
        )
        add(
            f"{word}-below-the-limit",
            "RETRY-003",
            {name: lowest},
            header={name: lowest},
            limit={name: other},
        )
        if DEFAULTS[name] > lowest:
            add(
                f"{word}-default-clamped",
                "RETRY-003",
                {name: DEFAULTS[name] - 1},
                limit={name: DEFAULTS[name] - 1},
            )
        add(
            f"{word}-limit-lowest",
            "RETRY-003 RETRY-004",
            {name: lowest},
            header={name: other},
            limit={name: lowest},
        )
        add(
            f"{word}-limit-highest",
            "RETRY-003 RETRY-004",
            {name: other},
            header={name: other},
            limit={name: highest},
        )
        for side in ("header", "schema", "limit"):
            for slug, number in (("below", lowest - 1), ("above", highest + 1)):
                g.add(
                    f"{word}-{slug}-bounds-in-the-{side}",
                    ask(**{side: {name: number}}),
                    "RETRY-004",
                    "POLICY_RANGE",
                )
        g.add(
            f"{word}-wraps-int32", ask(header={name: 2**32 + lowest}), "RETRY-004", "POLICY_RANGE"
        )
        g.add(
            f"{word}-thirty-digits",
            ask(header={name: 10**29}),
            "RETRY-004 CONF-021",
            "POLICY_RANGE",
        )
        g.add(f"{word}-faulty-in-the-schema-and-overridden", ask(header={name: other}, schema={name: highest + 1}),
              "RETRY-004", "POLICY_RANGE", "also where the value is not used")  # fmt: skip
        g.add(f"{word}-above-bounds-and-clamped", ask(header={name: highest + 1}, limit={name: other}),
              "RETRY-003 RETRY-004", "POLICY_RANGE", "bounds come before clamping")  # fmt: skip
    full = {
        "max_retry": 7,
        "max_hold": 8,
        "backoff_base": 9,
        "backoff_jitter": 10,
        "backoff_max": 11,
    }
    add("all-of-the-header", "RETRY-001", full, header=full)
    add("all-of-the-schema", "RETRY-001", full, schema=full)
    add("mixed-sources", "RETRY-001", {"max_retry": 7, "backoff_max": 60},
        header={"max_retry": 7}, schema={"max_retry": 9, "backoff_max": 60})  # fmt: skip
    add("zero-retries-of-the-header", "RETRY-001", {"max_retry": 0}, header={"max_retry": 0}, schema={"max_retry": 9},
        note="0 is a value, not an absent one")  # fmt: skip
    add(
        "zero-jitter-of-the-schema",
        "RETRY-001",
        {"backoff_jitter": 0},
        schema={"backoff_jitter": 0},
    )
    add("base-above-max-is-allowed", "RETRY-004", {"backoff_base": 60, "backoff_max": 30},
        header={"backoff_base": 60, "backoff_max": 30})  # fmt: skip
    add("limits-alone", "RETRY-003", {"max_retry": 3, "max_hold": 4, "backoff_base": 1, "backoff_jitter": 20, "backoff_max": 30},
        limit={"max_retry": 3, "max_hold": 4, "backoff_base": 5, "backoff_jitter": 20, "backoff_max": 30})  # fmt: skip

    # --- schedules
    ladder, other = [10_000, 30_000], [5, 6, 7]
    rule = "RETRY-002"
    add(
        "schedule-of-the-header",
        rule,
        {"backoff_schedule": ladder},
        header={"backoff_schedule": ladder},
    )
    add(
        "schedule-of-the-schema",
        rule,
        {"backoff_schedule": ladder},
        schema={"backoff_schedule": ladder},
    )
    add("schedule-header-before-schema", rule, {"backoff_schedule": ladder},
        header={"backoff_schedule": ladder}, schema={"backoff_schedule": other})  # fmt: skip
    add("schedule-of-the-header-beside-its-base", rule, {"backoff_schedule": ladder, "backoff_base": 2},
        header={"backoff_schedule": ladder, "backoff_base": 2})  # fmt: skip
    add("schedule-of-the-header-beside-its-max", rule, {"backoff_schedule": ladder, "backoff_max": 2},
        header={"backoff_schedule": ladder, "backoff_max": 2},
        note="the header's own backoff_max does not cap its schedule")  # fmt: skip
    add("schedule-of-the-schema-against-a-base", rule, {"backoff_base": 2},
        header={"backoff_base": 2}, schema={"backoff_schedule": ladder})  # fmt: skip
    add("schedule-of-the-schema-against-a-max", rule, {"backoff_max": 60},
        header={"backoff_max": 60}, schema={"backoff_schedule": ladder})  # fmt: skip
    add("schedule-of-the-schema-against-both", rule, {"backoff_base": 2, "backoff_max": 60},
        header={"backoff_base": 2, "backoff_max": 60}, schema={"backoff_schedule": ladder})  # fmt: skip
    add("schedule-of-the-schema-beside-a-jitter", rule, {"backoff_jitter": 7, "backoff_schedule": ladder},
        header={"backoff_jitter": 7}, schema={"backoff_schedule": ladder})  # fmt: skip
    add("schedule-of-the-schema-beside-a-max-retry", rule, {"max_retry": 2, "backoff_schedule": ladder},
        header={"max_retry": 2}, schema={"backoff_schedule": ladder})  # fmt: skip
    add("schedule-of-the-schema-beside-its-base", rule, {"backoff_base": 2, "backoff_schedule": ladder},
        schema={"backoff_base": 2, "backoff_schedule": ladder})  # fmt: skip
    add("schedule-empty-in-the-header", rule, {"backoff_schedule": ladder},
        header={"backoff_schedule": []}, schema={"backoff_schedule": ladder},
        note="an empty schedule is no schedule")  # fmt: skip
    add(
        "schedule-empty-in-both",
        rule,
        {},
        header={"backoff_schedule": []},
        schema={"backoff_schedule": []},
    )
    add("schedule-empty-in-the-header-with-base", rule, {"backoff_base": 2},
        header={"backoff_schedule": [], "backoff_base": 2}, schema={"backoff_schedule": ladder})  # fmt: skip
    add(
        "schedule-of-zeros", rule, {"backoff_schedule": [0, 0]}, header={"backoff_schedule": [0, 0]}
    )
    add(
        "schedule-keeps-order-and-repeats",
        rule,
        {"backoff_schedule": [3, 1, 2, 1]},
        header={"backoff_schedule": [3, 1, 2, 1]},
    )
    add(
        "schedule-of-32",
        "RETRY-004",
        {"backoff_schedule": list(range(32))},
        header={"backoff_schedule": range(32)},
    )
    add(
        "schedule-of-seven-days",
        "RETRY-004",
        {"backoff_schedule": [SEVEN_DAYS]},
        schema={"backoff_schedule": [SEVEN_DAYS]},
    )
    add("schedule-clamped", "RETRY-003", {"backoff_schedule": [10_000, 20_000], "backoff_max": 20},
        header={"backoff_schedule": ladder}, limit={"backoff_max": 20})  # fmt: skip
    add("schedule-of-the-schema-clamped", "RETRY-003", {"backoff_schedule": [1000, 1000], "backoff_max": 1},
        schema={"backoff_schedule": ladder}, limit={"backoff_max": 1})  # fmt: skip
    add("schedule-at-the-limit", "RETRY-003", {"backoff_schedule": [30_000], "backoff_max": 30},
        header={"backoff_schedule": [30_000]}, limit={"backoff_max": 30})  # fmt: skip
    add("schedule-one-above-the-limit", "RETRY-003", {"backoff_schedule": [30_000], "backoff_max": 30},
        header={"backoff_schedule": [30_001]}, limit={"backoff_max": 30})  # fmt: skip
    add("schedule-not-clamped-by-base-or-jitter", "RETRY-003", {"backoff_schedule": ladder, "backoff_jitter": 1},
        header={"backoff_schedule": ladder}, limit={"backoff_base": 1, "backoff_jitter": 1})  # fmt: skip
    for side in ("header", "schema"):
        for slug, schedule in (
            ("of-33", range(33)),
            ("entry-minus-one", [-1]),
            ("entry-above-seven-days", [1, SEVEN_DAYS + 1]),
            ("entry-wraps-int64", [2**64]),
        ):
            g.add(
                f"schedule-{slug}-in-the-{side}",
                ask(**{side: {"backoff_schedule": schedule}}),
                "RETRY-004",
                "POLICY_RANGE",
            )
    g.add("schedule-faulty-in-the-schema-and-not-in-force",
          ask(header={"backoff_schedule": [1]}, schema={"backoff_schedule": [-1]}), "RETRY-004", "POLICY_RANGE")  # fmt: skip
    g.add("schedule-faulty-in-the-schema-against-a-base",
          ask(header={"backoff_base": 1}, schema={"backoff_schedule": range(33)}), "RETRY-004", "POLICY_RANGE")  # fmt: skip
    g.add("schedule-above-bounds-and-clamped",
          ask(header={"backoff_schedule": [SEVEN_DAYS + 1]}, limit={"backoff_max": 1}), "RETRY-003 RETRY-004", "POLICY_RANGE")  # fmt: skip

    good = ask()
    g.faults(
        "CONF-021 CONF-035",
        {
            "input-without-header": without(good, "header"),
            "input-without-schema": without(good, "schema"),
            "input-without-limit": without(good, "limit"),
            "input-empty": {},
            "input-unknown-member": {**good, "default": {}},
            "input-header-null": {**good, "header": None},
            "input-header-list": {**good, "header": []},
            "input-unknown-value": {**good, "header": {"retry_count": "1"}},
            "input-limit-with-schedule": {**good, "limit": {"backoff_schedule": ["1"]}},
            "input-limit-with-empty-schedule": {**good, "limit": {"backoff_schedule": []}},
            "input-number": {**good, "header": {"max_retry": 5}},
            "input-null": {**good, "schema": {"max_retry": None}},
            "input-padded": {**good, "limit": {"max_retry": "05"}},
            "input-schedule-text": {**good, "header": {"backoff_schedule": "1,2"}},
            "input-schedule-of-numbers": {**good, "header": {"backoff_schedule": [1]}},
            "input-schedule-null": {**good, "schema": {"backoff_schedule": None}},
            "input-before-bounds": {**ask(header={"max_retry": 101}), "limit": {"max_hold": "+1"}},
        },
    )
