"""Delays: RETRY-010 to RETRY-014, CONF-033."""

from group import Group, without

SEVEN_DAYS = 604_800_000


def policy(base=1, maximum=300, jitter=1000, schedule=None):
    value = {
        "backoff_base": str(base),
        "backoff_max": str(maximum),
        "backoff_jitter": str(jitter),
    }
    if schedule is not None:
        value["backoff_schedule"] = [str(entry) for entry in schedule]
    return value


def ask(key="order-17", n=0, after=None, **given):
    value = {"key": key, "retry_count": str(n), "policy": policy(**given)}
    if after is not None:
        value["retry_after_ms"] = str(after)
    return value


def fill(g: Group) -> None:
    def base(slug, want, spec="RETRY-010", note="", **given):
        """Without jitter, so that the base part is the delay."""
        expected = {"delay_ms": str(want), "base_ms": str(want), "jitter_ms": "0"}
        g.add(slug, ask(jitter=0, **given), spec, expected, note)

    # --- the exponential part
    for n in range(11):
        base(f"defaults-delay-{n}", min(1000 << n, 300_000), n=n)
    base("base-of-a-day-at-the-largest-cap", 86_400_000, maximum=604_800, base=86_400)
    base("base-of-a-day-doubled", 172_800_000, maximum=604_800, base=86_400, n=1)
    base("base-of-a-day-past-the-cap", 604_800_000, maximum=604_800, base=86_400, n=3)
    base("base-of-a-day-below-the-cap", 345_600_000, maximum=604_800, base=86_400, n=2)
    base("cap-of-one-second", 1000, maximum=1, n=0)
    base("cap-of-one-second-later", 1000, maximum=1, n=1)
    base("base-one-above-the-cap", 2000, maximum=2, base=3)
    base("doubling-meets-the-cap-exactly", 64_000, maximum=64, n=6)
    base("doubling-just-below-the-cap", 32_000, maximum=64, n=5)
    base("doubling-just-beyond-the-cap", 64_000, maximum=64, n=7)
    base("cap-is-no-power-of-two", 65_000, maximum=65, n=7, note="64000, then 65000, never 128000")
    base("cap-halved-rounds-down", 3000, base=2, maximum=3, n=1, note="2000 > 3000 >>> 1")
    base(
        "shift-equals-the-cap-shifted-down",
        1_024_000,
        maximum=1025,
        n=10,
        note="1000 = 1025000 >>> 10, and 1024000 is below the cap",
    )
    base("shift-below-the-cap-by-one", 8000, base=2, maximum=9, n=2)
    for n in (9, 10, 18, 19, 20, 29, 30, 33, 53, 54, 61, 64, 65, 96, 127, 255, 256, 2**31 - 2):
        base(f"largest-cap-delay-{n}", min(1000 << min(n, 64), 604_800_000), maximum=604_800, n=n)
    for n in (31, 32, 62, 63, 64, 2**31 - 1):
        base(f"base-of-a-day-delay-{n}", 604_800_000, base=86_400, maximum=604_800, n=n)

    # --- schedules
    ladder = [10_000, 30_000, 60_000]
    for n, want in (
        (0, 10_000),
        (1, 30_000),
        (2, 60_000),
        (3, 60_000),
        (63, 60_000),
        (2**31 - 1, 60_000),
    ):
        base(f"schedule-delay-{n}", want, schedule=ladder, n=n)
    base("schedule-of-one", 5, schedule=[5], n=9)
    base("schedule-of-zero", 0, schedule=[0])
    base("schedule-that-falls", 1, schedule=[9, 1], n=1)
    base("schedule-not-capped", 604_800_000, schedule=[SEVEN_DAYS], maximum=1)
    base("schedule-not-scaled", 7, schedule=[7], base=86_400, maximum=604_800)
    base("schedule-empty-is-absent", 2000, spec="RETRY-010 CONF-021", schedule=[], n=1)
    base("schedule-of-32", 31, schedule=range(32), n=31)
    base("schedule-of-32-beyond", 31, schedule=range(32), n=32)

    # --- Retry-After
    after = "RETRY-011"
    base("retry-after-larger", 5000, after, after=5000)
    base("retry-after-smaller", 1000, after, after=999)
    base("retry-after-equal", 1000, after, after=1000)
    base("retry-after-zero", 1000, after, after=0)
    base("retry-after-one-more", 1001, after, after=1001)
    base(
        "retry-after-above-the-cap",
        400_000,
        after,
        after=400_000,
        n=9,
        note="the cap is for the exponential part",
    )
    base("retry-after-below-the-cap", 300_000, after, after=299_999, n=9)
    base("retry-after-seven-days", SEVEN_DAYS, after, after=SEVEN_DAYS)
    base("retry-after-above-seven-days", SEVEN_DAYS, after, after=SEVEN_DAYS + 1)
    base("retry-after-a-year", SEVEN_DAYS, after, after=31_536_000_000)
    base("retry-after-above-int64", SEVEN_DAYS, "RETRY-011 CONF-021", after=2**63)
    base("retry-after-thirty-digits", SEVEN_DAYS, "RETRY-011 CONF-021", after=10**29)
    base("retry-after-wraps-int32", SEVEN_DAYS, after, after=2**32)
    base("retry-after-with-schedule", 20_000, after, schedule=ladder, after=20_000)
    base("retry-after-below-schedule", 30_000, after, schedule=ladder, after=20_000, n=1)
    base("retry-after-above-largest-cap-equal", SEVEN_DAYS, after, after=SEVEN_DAYS + 1, base=86_400,
         maximum=604_800, n=10)  # fmt: skip
    g.add("retry-after-and-jitter", ask(after=5000), "RETRY-011 RETRY-012 RETRY-013")

    # --- jitter
    g.add("example", ask("order-8317", 1, base=1, maximum=60, jitter=17), "RETRY-012", None,
          "as in the chapter, with another jitter")  # fmt: skip
    for n in (0, 1, 9, 10, 99, 100, 2**31 - 1):
        g.add(f"jitter-count-{n}", ask(n=n), "RETRY-012 RETRY-013")
    for jitter in (1, 2, 999, 1023, 1024, 65_535, 3_599_999, 3_600_000):
        g.add(f"jitter-{jitter}", ask(jitter=jitter), "RETRY-012")
    for slug, key in {
        "payment-key": "payments.payment_success:v1:p%2F17",
        "key-of-one-byte": "a",
        "key-with-a-hash-sign": "order#1",
        "key-that-ends-in-a-hash-sign": "order-17#",
        "key-of-digits": "1",
        "key-emoji": "\U0001f600",
        "key-of-two-byte-letters": "caf\u00e9",
        "key-blank": " ",
        "key-of-1024-bytes": "k" * 1024,
        "key-of-2000-bytes": "k" * 2000,
    }.items():
        g.add(f"jitter-{slug}", ask(key, n=3, jitter=3_600_000), "RETRY-012 HASH-001")
    g.add("jitter-one-hash-sign-moved", ask("order#", n=11, jitter=3_600_000), "RETRY-012", None,
          "the text that is hashed is order##11")  # fmt: skip
    g.add("jitter-with-schedule", ask(schedule=ladder, n=1), "RETRY-012 RETRY-013")
    for number in (1, 2, 3, 5, 8, 13, 21, 34):
        g.add(f"jitter-order-{number}", ask(f"order-{number}", jitter=3_600_000), "RETRY-012", None,
              "the hash is unsigned" if number == 1 else "")  # fmt: skip
    g.add("largest-delay", ask("order-5", after=SEVEN_DAYS, jitter=3_600_000), "RETRY-013")

    # --- bounds
    def fault(slug, code, spec, **given):
        g.add(slug, ask(**given), spec, code)

    out = "POLICY_RANGE"
    bounds = "RETRY-004 RETRY-014"
    fault("base-zero", out, bounds, base=0)
    fault("base-minus-one", out, bounds, base=-1)
    fault("base-86401", out, bounds, base=86_401)
    fault("base-thirty-digits", out, bounds, base=10**29)
    fault("base-wraps-int32", out, bounds, base=2**32 + 1)
    fault("max-zero", out, bounds, maximum=0)
    fault("max-604801", out, bounds, maximum=604_801)
    fault("max-wraps-int32", out, bounds, maximum=2**32 + 300)
    fault("max-thirty-digits", out, bounds, maximum=10**29)
    fault("jitter-minus-one", out, bounds, jitter=-1)
    fault("jitter-3600001", out, bounds, jitter=3_600_001)
    fault("jitter-wraps-int32", out, bounds, jitter=2**32)
    fault("schedule-of-33", out, bounds, schedule=range(33))
    fault("schedule-entry-minus-one", out, bounds, schedule=[-1])
    fault("schedule-entry-above-seven-days", out, bounds, schedule=[SEVEN_DAYS + 1])
    fault("schedule-entry-not-used", out, bounds, schedule=[1, SEVEN_DAYS + 1])
    fault("schedule-entry-wraps-int64", out, bounds, schedule=[2**64])
    fault("base-faulty-beside-a-schedule", out, bounds, base=0, schedule=[1])
    fault("max-faulty-beside-a-schedule", out, bounds, maximum=604_801, schedule=[1])
    fault("count-minus-one", out, "RETRY-014 CONF-033", n=-1)
    fault("count-above-int32", out, "RETRY-014 CONF-033", n=2**31)
    fault("count-wraps-int32", out, "RETRY-014 CONF-033", n=2**32)
    fault("count-thirty-digits", out, "RETRY-014 CONF-033", n=10**29)
    fault("key-empty", "KEY_EMPTY", "RETRY-014", key="")
    fault("key-empty-without-jitter", "KEY_EMPTY", "RETRY-014", key="", jitter=0)
    fault("policy-before-key", out, "RETRY-014", key="", base=0)
    fault("schedule-before-key", out, "RETRY-014", key="", schedule=[-1])
    fault("count-before-key", out, "RETRY-014 CONF-033", key="", n=-1)

    good = ask()
    plan = good["policy"]
    g.faults(
        "CONF-021 CONF-033",
        {
            "input-without-key": without(good, "key"),
            "input-without-count": without(good, "retry_count"),
            "input-without-policy": without(good, "policy"),
            "input-unknown-member": {**good, "hold_count": "0"},
            "input-policy-text": {**good, "policy": "default"},
            "input-policy-empty": {**good, "policy": {}},
            "input-policy-without-base": {**good, "policy": without(plan, "backoff_base")},
            "input-policy-without-max": {**good, "policy": without(plan, "backoff_max")},
            "input-policy-without-jitter": {**good, "policy": without(plan, "backoff_jitter")},
            "input-policy-without-base-with-schedule": {
                **good,
                "policy": {**without(plan, "backoff_base"), "backoff_schedule": ["1"]},
            },
            "input-policy-max-retry": {**good, "policy": {**plan, "max_retry": "5"}},
            "input-policy-base-number": {**good, "policy": {**plan, "backoff_base": 1}},
            "input-policy-base-padded": {**good, "policy": {**plan, "backoff_base": "01"}},
            "input-schedule-text": {**good, "policy": {**plan, "backoff_schedule": "1,2"}},
            "input-schedule-null": {**good, "policy": {**plan, "backoff_schedule": None}},
            "input-schedule-of-numbers": {**good, "policy": {**plan, "backoff_schedule": [1]}},
            "input-schedule-entry-padded": {**good, "policy": {**plan, "backoff_schedule": ["01"]}},
            "input-retry-after-negative": {**good, "retry_after_ms": "-1"},
            "input-retry-after-number": {**good, "retry_after_ms": 1},
            "input-retry-after-null": {**good, "retry_after_ms": None},
            "input-retry-after-fraction": {**good, "retry_after_ms": "1.5"},
            "input-key-null": {**good, "key": None},
            "input-count-padded": {**good, "retry_count": "007"},
            "input-count-minus-zero": {**good, "retry_count": "-0"},
            "input-before-policy": {**ask(base=0), "retry_count": "+1"},
        },
    )
