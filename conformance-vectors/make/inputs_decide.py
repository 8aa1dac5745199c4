"""Decisions: RETRY-020 to RETRY-026, CONF-034."""

from group import Group, without
from inputs_backoff import policy

ACKNOWLEDGED = ("OK", "DUPLICATE", "STALE")
DEAD = ("NON_RETRYABLE", "KEY_REUSED", "CONFLICT", "MALFORMED", "CRASH_LOOP", "TOO_OLD")
DEFERRED = ("IN_PROGRESS", "FENCED")
SEVEN_DAYS = 604_800_000


def ask(outcome, key="order-17", retry=0, hold=0, max_retry=5, max_hold=20, reason=None, after=None,
        wait=None, **plan):  # fmt: skip
    value = {
        "outcome": outcome,
        "key": key,
        "retry_count": str(retry),
        "max_retry": str(max_retry),
        "hold_count": str(hold),
        "max_hold": str(max_hold),
        "policy": policy(**plan),
    }
    if reason is not None:
        value["reason"] = reason
    if after is not None:
        value["retry_after_ms"] = str(after)
    if outcome in DEFERRED or wait is not None:
        value["wait_ms"] = str(1000 if wait is None else wait)
    return value


def slug_of(outcome):
    return outcome.lower().replace("_", "-")


def fill(g: Group) -> None:
    def dead(slug, spec, says, retry=0, hold=0, note="", **given):
        want = {
            "action": "DEAD_LETTER",
            "retry_count": str(retry),
            "hold_count": str(hold),
            "reject_reason": says,
        }
        g.add(slug, ask(retry=retry, hold=hold, **given), spec, want, note)

    def later(slug, action, spec, delay, says, retry=0, hold=0, note="", **given):
        """Without jitter."""
        want = {
            "action": action,
            "delay_ms": str(delay),
            "retry_count": str(retry + (action == "RETRY")),
            "hold_count": str(hold + (action == "HOLD")),
        }
        if says is not None:
            want["reject_reason"] = says
        g.add(slug, ask(retry=retry, hold=hold, jitter=0, **given), spec, want, note)

    # --- ACK
    for outcome in ACKNOWLEDGED:
        ack = {"action": "ACK"}
        name = slug_of(outcome)
        g.add(name, ask(outcome), "RETRY-020", ack)
        g.add(f"{name}-with-counts-used-up", ask(outcome, retry=9, hold=99), "RETRY-020", ack)
        g.add(f"{name}-has-no-reason", ask(outcome, reason="done"), "RETRY-025", ack)
        g.add(
            f"{name}-ignores-times",
            ask(outcome, after=5, wait=5),
            "RETRY-020 RETRY-024 CONF-034",
            ack,
        )

    # --- RETRY
    for outcome in ("RETRYABLE", "THROTTLED"):
        name = slug_of(outcome)
        for retry in range(5):
            later(
                f"{name}-retry-{retry}",
                "RETRY",
                "RETRY-020 RETRY-021",
                1000 << retry,
                outcome,
                outcome=outcome,
                retry=retry,
            )
        dead(f"{name}-at-max-retry", "RETRY-020 RETRY-025", outcome, outcome=outcome, retry=5)
        dead(f"{name}-beyond-max-retry", "RETRY-020", outcome, outcome=outcome, retry=6)
        dead(
            f"{name}-largest-count", "RETRY-020 CONF-033", outcome, outcome=outcome, retry=2**31 - 1
        )
        dead(f"{name}-without-retries", "RETRY-020", outcome, outcome=outcome, max_retry=0)
        later(
            f"{name}-last-of-one-hundred",
            "RETRY",
            "RETRY-020",
            300_000,
            outcome,
            outcome=outcome,
            retry=99,
            max_retry=100,
        )
        dead(
            f"{name}-after-one-hundred",
            "RETRY-020",
            outcome,
            outcome=outcome,
            retry=100,
            max_retry=100,
        )
        later(
            f"{name}-keeps-the-hold-count",
            "RETRY",
            "RETRY-021",
            1000,
            outcome,
            outcome=outcome,
            hold=7,
        )
        later(
            f"{name}-with-holds-used-up",
            "RETRY",
            "RETRY-020",
            1000,
            outcome,
            outcome=outcome,
            hold=20,
            max_hold=0,
        )
        dead(
            f"{name}-dead-letter-keeps-the-hold-count",
            "RETRY-020",
            outcome,
            outcome=outcome,
            retry=5,
            hold=7,
        )
        g.add(f"{name}-with-jitter", ask(outcome, retry=2), "RETRY-021 RETRY-012")
        later(
            f"{name}-at-once",
            "RETRY",
            "RETRY-021 RETRY-010",
            0,
            outcome,
            outcome=outcome,
            schedule=[0],
        )
        later(f"{name}-with-schedule", "RETRY", "RETRY-021 RETRY-010", 30_000, outcome, outcome=outcome, retry=1,
              schedule=[10_000, 30_000])  # fmt: skip
    later(
        "retryable-ignores-retry-after",
        "RETRY",
        "RETRY-024",
        1000,
        "RETRYABLE",
        outcome="RETRYABLE",
        after=60_000,
    )
    later(
        "retryable-ignores-wait",
        "RETRY",
        "CONF-034",
        1000,
        "RETRYABLE",
        outcome="RETRYABLE",
        wait=60_000,
    )
    later(
        "throttled-retry-after-larger",
        "RETRY",
        "RETRY-020 RETRY-011",
        60_000,
        "THROTTLED",
        outcome="THROTTLED",
        after=60_000,
    )
    later(
        "throttled-retry-after-smaller",
        "RETRY",
        "RETRY-020 RETRY-011",
        4000,
        "THROTTLED",
        outcome="THROTTLED",
        after=60,
        retry=2,
    )
    later(
        "throttled-retry-after-zero",
        "RETRY",
        "RETRY-011",
        1000,
        "THROTTLED",
        outcome="THROTTLED",
        after=0,
    )
    later(
        "throttled-retry-after-above-the-cap",
        "RETRY",
        "RETRY-011",
        900_000,
        "THROTTLED",
        outcome="THROTTLED",
        after=900_000,
    )
    later(
        "throttled-retry-after-seven-days",
        "RETRY",
        "RETRY-011",
        SEVEN_DAYS,
        "THROTTLED",
        outcome="THROTTLED",
        after=SEVEN_DAYS,
    )
    later(
        "throttled-retry-after-too-large",
        "RETRY",
        "RETRY-011",
        SEVEN_DAYS,
        "THROTTLED",
        outcome="THROTTLED",
        after=SEVEN_DAYS + 1,
    )
    later(
        "throttled-retry-after-thirty-digits",
        "RETRY",
        "RETRY-011 CONF-021",
        SEVEN_DAYS,
        "THROTTLED",
        outcome="THROTTLED",
        after=10**29,
    )
    later("throttled-retry-after-with-schedule", "RETRY", "RETRY-011", 20_000, "THROTTLED", outcome="THROTTLED", after=20_000,
          schedule=[10_000])  # fmt: skip
    g.add("throttled-retry-after-and-jitter", ask("THROTTLED", after=60_000), "RETRY-011 RETRY-013")
    dead(
        "throttled-retry-after-at-max-retry",
        "RETRY-020",
        "THROTTLED",
        outcome="THROTTLED",
        after=60_000,
        retry=5,
    )

    # --- HOLD
    for hold in (0, 1, 2, 8, 9, 19):
        later(f"out-of-order-hold-{hold}", "HOLD", "RETRY-020 RETRY-022 STATE-005", min(1000 << hold, 300_000), "OUT_OF_ORDER",
              outcome="OUT_OF_ORDER", hold=hold)  # fmt: skip
    dead("out-of-order-at-max-hold", "RETRY-020", "OUT_OF_ORDER", outcome="OUT_OF_ORDER", hold=20)
    dead(
        "out-of-order-beyond-max-hold", "RETRY-020", "OUT_OF_ORDER", outcome="OUT_OF_ORDER", hold=21
    )
    dead(
        "out-of-order-without-holds",
        "RETRY-020",
        "OUT_OF_ORDER",
        outcome="OUT_OF_ORDER",
        max_hold=0,
    )
    dead(
        "out-of-order-largest-count",
        "RETRY-020 CONF-033",
        "OUT_OF_ORDER",
        outcome="OUT_OF_ORDER",
        hold=2**31 - 1,
    )
    later(
        "out-of-order-counts-holds-not-retries",
        "HOLD",
        "RETRY-022",
        2000,
        "OUT_OF_ORDER",
        outcome="OUT_OF_ORDER",
        hold=1,
        retry=4,
    )
    later(
        "out-of-order-with-retries-used-up",
        "HOLD",
        "RETRY-020",
        1000,
        "OUT_OF_ORDER",
        outcome="OUT_OF_ORDER",
        retry=5,
        max_retry=0,
    )
    later(
        "out-of-order-last-of-one-hundred",
        "HOLD",
        "RETRY-020",
        300_000,
        "OUT_OF_ORDER",
        outcome="OUT_OF_ORDER",
        hold=99,
        max_hold=100,
    )
    later(
        "out-of-order-ignores-retry-after",
        "HOLD",
        "RETRY-022 RETRY-024",
        1000,
        "OUT_OF_ORDER",
        outcome="OUT_OF_ORDER",
        after=60_000,
    )
    later(
        "out-of-order-ignores-wait",
        "HOLD",
        "CONF-034",
        1000,
        "OUT_OF_ORDER",
        outcome="OUT_OF_ORDER",
        wait=60_000,
    )
    later("out-of-order-with-schedule", "HOLD", "RETRY-022", 30_000, "OUT_OF_ORDER", outcome="OUT_OF_ORDER", hold=1,
          schedule=[10_000, 30_000])  # fmt: skip
    later(
        "out-of-order-at-once",
        "HOLD",
        "RETRY-022 RETRY-010",
        0,
        "OUT_OF_ORDER",
        outcome="OUT_OF_ORDER",
        schedule=[0],
    )
    g.add(
        "out-of-order-jitter-of-the-hold-count",
        ask("OUT_OF_ORDER", hold=3, retry=1),
        "RETRY-022 RETRY-012",
    )
    dead(
        "out-of-order-dead-letter-keeps-the-retry-count",
        "RETRY-020",
        "OUT_OF_ORDER",
        outcome="OUT_OF_ORDER",
        hold=20,
        retry=3,
    )

    # --- DEFER
    for outcome in DEFERRED:
        name = slug_of(outcome)
        for slug, wait, delay in (
            ("zero", 0, 0),
            ("one", 1, 1),
            ("thirty-seconds", 30_000, 30_000),
            ("seven-days", SEVEN_DAYS, SEVEN_DAYS),
            ("above-seven-days", SEVEN_DAYS + 1, SEVEN_DAYS),
            ("above-int64", 2**63, SEVEN_DAYS),
        ):
            later(
                f"{name}-wait-{slug}", "DEFER", "RETRY-023", delay, None, outcome=outcome, wait=wait
            )
        later(
            f"{name}-keeps-both-counts",
            "DEFER",
            "RETRY-023",
            1000,
            None,
            outcome=outcome,
            retry=3,
            hold=4,
        )
        later(f"{name}-costs-nothing-when-all-is-used-up", "DEFER", "RETRY-020 RETRY-023", 1000, None, outcome=outcome,
              retry=100, hold=100, max_retry=0, max_hold=0)  # fmt: skip
        later(
            f"{name}-has-no-reason",
            "DEFER",
            "RETRY-025",
            1000,
            None,
            outcome=outcome,
            reason="busy",
        )
        later(
            f"{name}-ignores-retry-after",
            "DEFER",
            "RETRY-024 CONF-034",
            1000,
            None,
            outcome=outcome,
            after=60_000,
        )
        later(
            f"{name}-ignores-the-schedule",
            "DEFER",
            "RETRY-023",
            1000,
            None,
            outcome=outcome,
            schedule=[60_000],
        )
        g.add(
            f"{name}-jitter-of-the-retry-count",
            ask(outcome, retry=3, hold=1),
            "RETRY-023 RETRY-012",
        )
        g.add(
            f"{name}-jitter-of-the-largest-count",
            ask(outcome, retry=2**31 - 1),
            "RETRY-023 RETRY-012",
        )
        g.add(f"{name}-largest-delay", ask(outcome, wait=SEVEN_DAYS, jitter=3_600_000), "RETRY-023")

    # --- DEAD_LETTER
    for outcome in DEAD:
        name = slug_of(outcome)
        also = " STATE-005" if outcome == "CONFLICT" else ""
        dead(name, "RETRY-020 RETRY-025" + also, outcome, outcome=outcome)
        dead(f"{name}-keeps-both-counts", "RETRY-020", outcome, outcome=outcome, retry=3, hold=4)
        dead(
            f"{name}-with-reason",
            "RETRY-025",
            "CARD_STOLEN: lost",
            outcome=outcome,
            reason="CARD_STOLEN: lost",
        )
        dead(
            f"{name}-ignores-times", "RETRY-024 CONF-034", outcome, outcome=outcome, after=5, wait=5
        )

    # --- reasons
    later(
        "reason-of-a-retry",
        "RETRY",
        "RETRY-025",
        1000,
        "HTTP_502: bad gateway",
        outcome="RETRYABLE",
        reason="HTTP_502: bad gateway",
    )
    later(
        "reason-of-a-hold",
        "HOLD",
        "RETRY-025",
        1000,
        "WAITS",
        outcome="OUT_OF_ORDER",
        reason="WAITS",
    )
    dead(
        "reason-where-retries-are-used-up",
        "RETRY-025",
        "HTTP_502",
        outcome="RETRYABLE",
        retry=5,
        reason="HTTP_502",
    )
    dead(
        "reason-empty",
        "RETRY-025",
        "CONFLICT",
        outcome="CONFLICT",
        reason="",
        note="an empty reason is none",
    )
    later(
        "reason-empty-of-a-retry",
        "RETRY",
        "RETRY-025",
        1000,
        "THROTTLED",
        outcome="THROTTLED",
        reason="",
    )
    dead("reason-blank-stays", "RETRY-025", " ", outcome="CONFLICT", reason=" ")
    dead("reason-control-characters-stay", "RETRY-025", "a\nb\u0000c\u007f", outcome="CONFLICT", reason="a\nb\u0000c\u007f",
         note="the header's writer replaces them, not the decision")  # fmt: skip
    dead("reason-is-not-cut", "RETRY-025", "x" * 1025, outcome="CONFLICT", reason="x" * 1025)
    dead(
        "reason-of-two-byte-letters",
        "RETRY-025",
        "caf\u00e9 \U0001f600",
        outcome="CONFLICT",
        reason="caf\u00e9 \U0001f600",
    )

    # --- faults come before the table, for every outcome
    out = "POLICY_RANGE"
    every = (*ACKNOWLEDGED, "RETRYABLE", "THROTTLED", "OUT_OF_ORDER", *DEFERRED, *DEAD)
    for outcome in every:
        g.add(
            f"{slug_of(outcome)}-policy-checked", ask(outcome, base=0), "RETRY-026 RETRY-014", out
        )
        g.add(f"{slug_of(outcome)}-key-checked", ask(outcome, key=""), "RETRY-026", "KEY_EMPTY")
    for slug, given in {
        "max-retry-minus-one": {"max_retry": -1},
        "max-retry-101": {"max_retry": 101},
        "max-retry-wraps-int32": {"max_retry": 2**32 + 5},
        "max-hold-minus-one": {"max_hold": -1},
        "max-hold-101": {"max_hold": 101},
        "max-hold-thirty-digits": {"max_hold": 10**29},
        "retry-count-minus-one": {"retry": -1},
        "retry-count-above-int32": {"retry": 2**31},
        "retry-count-wraps-int32": {"retry": 2**32},
        "hold-count-minus-one": {"hold": -1},
        "hold-count-above-int32": {"hold": 2**31},
        "hold-count-thirty-digits": {"hold": 10**29},
        "max-faulty": {"maximum": 604_801},
        "jitter-faulty": {"jitter": 3_600_001},
        "schedule-faulty": {"schedule": [-1]},
        "schedule-of-33": {"schedule": range(33)},
    }.items():
        g.add(slug, ask("OK", **given), "RETRY-026 CONF-033", out)
        if slug in (
            "max-retry-101",
            "retry-count-above-int32",
            "hold-count-minus-one",
            "jitter-faulty",
        ):
            g.add(f"{slug}-with-a-retry", ask("RETRYABLE", **given), "RETRY-026 CONF-033", out)
    g.add("policy-before-key", ask("RETRYABLE", key="", maximum=0), "RETRY-026", out)
    g.add("max-retry-before-key", ask("RETRYABLE", key="", max_retry=101), "RETRY-026", out)
    g.add("hold-count-before-key", ask("OK", key="", hold=-1), "RETRY-026", out)
    g.add(
        "key-of-2000-bytes",
        ask("RETRYABLE", key="k" * 2000),
        "RETRY-021 RETRY-012",
        note="keys are checked where headers are read",
    )

    good = ask("RETRYABLE")
    waits = ask("FENCED")
    g.faults(
        "CONF-021 CONF-034",
        {
            **{f"input-without-{name.replace('_', '-')}": without(good, name) for name in good},
            "input-unknown-member": {**good, "jitter_ms": "0"},
            "input-outcome-unknown": {**good, "outcome": "FAILED"},
            "input-outcome-lower-case": {**good, "outcome": "retryable"},
            "input-outcome-action": {**good, "outcome": "RETRY"},
            "input-outcome-empty": {**good, "outcome": ""},
            "input-outcome-null": {**good, "outcome": None},
            "input-in-progress-without-wait": without(ask("IN_PROGRESS"), "wait_ms"),
            "input-fenced-without-wait": without(waits, "wait_ms"),
            "input-wait-negative": {**waits, "wait_ms": "-1"},
            "input-wait-number": {**waits, "wait_ms": 1000},
            "input-wait-null": {**waits, "wait_ms": None},
            "input-wait-padded-and-not-used": {**good, "wait_ms": "01"},
            "input-wait-negative-and-not-used": {**good, "wait_ms": "-1"},
            "input-retry-after-negative": {**ask("THROTTLED"), "retry_after_ms": "-1"},
            "input-retry-after-number": {**ask("THROTTLED"), "retry_after_ms": 60},
            "input-retry-after-text": {
                **ask("THROTTLED"),
                "retry_after_ms": "Wed, 01 Jan 2025 00:00:00 GMT",
            },
            "input-retry-after-negative-and-not-used": {**ask("OK"), "retry_after_ms": "-1"},
            "input-reason-null": {**good, "reason": None},
            "input-reason-number": {**good, "reason": 502},
            "input-count-number": {**good, "retry_count": 0},
            "input-count-padded": {**good, "hold_count": "00"},
            "input-policy-without-base": {
                **good,
                "policy": without(good["policy"], "backoff_base"),
            },
            "input-policy-with-max-retry": {**good, "policy": {**good["policy"], "max_retry": "5"}},
            "input-before-policy": {**ask("RETRYABLE", base=0), "outcome": "UNKNOWN"},
            "input-before-key": {**ask("FENCED", key=""), "wait_ms": "-1"},
        },
    )
