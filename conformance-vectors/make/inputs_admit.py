"""Admissions: DEDUP-001 to DEDUP-004, CONF-036 and CONF-037."""

from group import Group, without

T1, T2 = "0a1b2c3d", "99999999"
V1, V2 = "ef46db3751d8e999", "0009840d8e32d5ea"
MAX = 2**63 - 1


def record(state, fence=3, attempts=2, owner="w1", redrive=0, position=0, lease_until=None, result=None,
           fingerprint=None):  # fmt: skip
    value = {
        "state": state,
        "fence": str(fence),
        "attempts": str(attempts),
        "owner": owner,
        "redrive_count": str(redrive),
        "position": str(position),
    }
    if state == "PROCESSING":
        value["lease_until_ms"] = str(1000 if lease_until is None else lease_until)
    if result is not None:
        value["result"] = result
    if fingerprint is not None:
        value["fingerprint"] = fingerprint
    return value


def ask(of, redrive=0, position=0, now=1200, lease=500, attempts=9, owner="w2", fingerprint=None):
    value = {
        "record": of,
        "delivery": {"redrive_count": str(redrive), "position": str(position)},
        "now_ms": str(now),
        "lease_ms": str(lease),
        "max_attempts": str(attempts),
        "owner": owner,
    }
    if fingerprint is not None:
        value["fingerprint"] = fingerprint
    return value


def fill(g: Group) -> None:
    def proceed(slug, value, spec, fence, attempts, lease_until, recovered, note=""):
        want = {
            "admission": "PROCEED",
            "fence": str(fence),
            "attempts": str(attempts),
            "lease_until_ms": str(lease_until),
            "recovered": recovered,
        }
        g.add(slug, value, spec, want, note)

    def verdict(slug, value, spec, admission, note="", **more):
        g.add(slug, value, spec, {"admission": admission, **more}, note)

    one, two, four = "DEDUP-001", "DEDUP-001 HASH-031", "DEDUP-001 DEDUP-004"

    # --- 1: no record
    proceed("no-record", ask(None), "DEDUP-001 DEDUP-002", 1, 1, 1700, False)
    proceed(
        "no-record-at-a-later-position", ask(None, redrive=2, position=7), one, 1, 1, 1700, False
    )
    proceed(
        "no-record-with-fingerprint", ask(None, fingerprint=f"{T1}-{V1}"), one, 1, 1, 1700, False
    )
    proceed("no-record-at-time-zero", ask(None, now=0, lease=1), "DEDUP-002", 1, 1, 1, False)
    proceed("no-record-with-one-attempt", ask(None, attempts=1), one, 1, 1, 1700, False)
    proceed(
        "no-record-at-the-largest-time",
        ask(None, now=MAX - 500),
        "DEDUP-002 CONF-037",
        1,
        1,
        MAX,
        False,
    )
    proceed(
        "no-record-beyond-the-largest-time",
        ask(None, now=MAX - 499),
        "DEDUP-002 CONF-037",
        1,
        1,
        MAX,
        False,
    )
    proceed(
        "no-record-above-double-precision",
        ask(None, now=2**53, lease=1),
        "DEDUP-002",
        1,
        1,
        2**53 + 1,
        False,
    )

    # --- 2: fingerprints
    for state in ("PROCESSING", "SUCCESS", "FAILED", "DEAD"):
        name = state.lower()
        verdict(f"fingerprint-differs-{name}",
                ask(record(state, fingerprint=f"{T1}-{V1}"), fingerprint=f"{T1}-{V2}"), two, "KEY_REUSED")  # fmt: skip
    verdict(
        "fingerprint-equal",
        ask(record("SUCCESS", fingerprint=f"{T1}-{V1}"), fingerprint=f"{T1}-{V1}"),
        two,
        "DUPLICATE",
        result="",
    )
    verdict("fingerprint-of-another-template", ask(record("SUCCESS", fingerprint=f"{T1}-{V1}"), fingerprint=f"{T2}-{V2}"), two,
            "DUPLICATE", "not comparable", result="")  # fmt: skip
    verdict("fingerprint-of-another-template-same-value", ask(record("SUCCESS", fingerprint=f"{T1}-{V1}"), fingerprint=f"{T2}-{V1}"),
            two, "DUPLICATE", result="")  # fmt: skip
    verdict(
        "fingerprint-missing-in-the-record",
        ask(record("SUCCESS"), fingerprint=f"{T1}-{V1}"),
        two,
        "DUPLICATE",
        result="",
    )
    verdict("fingerprint-missing-in-the-delivery", ask(record("SUCCESS", fingerprint=f"{T1}-{V1}")), two, "DUPLICATE",
            "as after a repair", result="")  # fmt: skip
    verdict("fingerprint-differs-in-its-last-digit", ask(record("SUCCESS", fingerprint=f"{T1}-{V1}"), fingerprint=f"{T1}-{V1[:-1]}a"),
            two, "KEY_REUSED")  # fmt: skip
    verdict("fingerprint-template-differs-in-its-last-digit",
            ask(record("SUCCESS", fingerprint=f"{T1}-{V1}"), fingerprint=f"{T1[:-1]}e-{V2}"), two, "DUPLICATE", result="")  # fmt: skip
    verdict(
        "fingerprint-before-stale",
        ask(record("DEAD", position=5, fingerprint=f"{T1}-{V1}"), fingerprint=f"{T1}-{V2}"),
        two,
        "KEY_REUSED",
    )
    verdict("fingerprint-before-own-lease", ask(record("PROCESSING", owner="w2", lease_until=2000, fingerprint=f"{T1}-{V1}"),
            fingerprint=f"{T1}-{V2}"), two, "KEY_REUSED")  # fmt: skip
    verdict(
        "fingerprint-before-redrive",
        ask(record("FAILED", fingerprint=f"{T1}-{V1}"), redrive=1, fingerprint=f"{T1}-{V2}"),
        two,
        "KEY_REUSED",
    )
    verdict(
        "fingerprint-before-crash-loop",
        ask(record("FAILED", attempts=9, fingerprint=f"{T1}-{V1}"), fingerprint=f"{T1}-{V2}"),
        two,
        "KEY_REUSED",
    )

    # --- 3: SUCCESS
    verdict(
        "success-with-result",
        ask(record("SUCCESS", result="7b7d")),
        "DEDUP-001 CONF-037",
        "DUPLICATE",
        result="7b7d",
    )
    verdict(
        "success-without-result",
        ask(record("SUCCESS")),
        "DEDUP-001 CONF-037",
        "DUPLICATE",
        result="",
    )
    verdict(
        "success-with-empty-result",
        ask(record("SUCCESS", result="")),
        "DEDUP-001 CONF-037",
        "DUPLICATE",
        result="",
    )
    verdict(
        "success-with-a-result-that-is-no-text",
        ask(record("SUCCESS", result="00ff")),
        one,
        "DUPLICATE",
        result="00ff",
    )
    verdict("success-at-an-earlier-position", ask(record("SUCCESS", position=5)), one, "DUPLICATE", result="",
            note="success comes before stale")  # fmt: skip
    verdict(
        "success-at-a-later-position",
        ask(record("SUCCESS"), position=5),
        one,
        "DUPLICATE",
        result="",
    )
    verdict(
        "success-of-a-later-life",
        ask(record("SUCCESS", redrive=1, result="01")),
        one,
        "DUPLICATE",
        result="01",
    )
    verdict(
        "success-redriven",
        ask(record("SUCCESS", result="01"), redrive=1),
        one,
        "DUPLICATE",
        result="01",
    )
    verdict(
        "success-with-attempts-used-up",
        ask(record("SUCCESS", attempts=9)),
        one,
        "DUPLICATE",
        result="",
    )
    verdict(
        "success-of-the-same-owner", ask(record("SUCCESS", owner="w2")), one, "DUPLICATE", result=""
    )

    # --- 4: STALE
    for state in ("PROCESSING", "FAILED", "DEAD"):
        name = state.lower()
        verdict(f"{name}-lower-redrive", ask(record(state, redrive=1), position=9), one, "STALE")
        verdict(f"{name}-lower-position", ask(record(state, position=5), position=4), four, "STALE")
        verdict(
            f"{name}-much-lower-redrive",
            ask(record(state, redrive=10), redrive=9, position=10),
            one,
            "STALE",
        )
    verdict("dead-same-position", ask(record("DEAD")), one, "STALE")
    verdict("dead-higher-position", ask(record("DEAD"), position=5), one, "STALE")
    verdict("dead-same-redrive", ask(record("DEAD", redrive=2), redrive=2), one, "STALE")
    verdict(
        "live-lease-lower-position",
        ask(record("PROCESSING", lease_until=2000, position=2), position=1),
        one,
        "STALE",
    )
    verdict(
        "live-lease-lower-redrive",
        ask(record("PROCESSING", lease_until=2000, redrive=1)),
        one,
        "STALE",
    )
    verdict(
        "own-live-lease-lower-position",
        ask(record("PROCESSING", owner="w2", lease_until=2000, position=2), position=1),
        one,
        "STALE",
    )
    verdict(
        "position-compared-as-a-number",
        ask(record("FAILED", position=10), position=9),
        four,
        "STALE",
    )
    verdict(
        "redrive-compared-as-a-number", ask(record("FAILED", redrive=10), redrive=9), four, "STALE"
    )
    verdict(
        "position-above-double-precision",
        ask(record("FAILED", position=2**53 + 1), position=2**53),
        four,
        "STALE",
    )
    verdict("stale-before-crash-loop", ask(record("FAILED", attempts=9, position=1)), one, "STALE")
    verdict(
        "largest-position", ask(record("FAILED", position=MAX), position=MAX - 1), four, "STALE"
    )

    # --- 5: a live lease
    lease = "DEDUP-001 DEDUP-002"
    verdict(
        "live-lease",
        ask(record("PROCESSING", lease_until=1300)),
        lease,
        "IN_PROGRESS",
        wait_ms="100",
    )
    verdict(
        "live-lease-of-one-millisecond",
        ask(record("PROCESSING", lease_until=1201)),
        lease,
        "IN_PROGRESS",
        wait_ms="1",
    )
    verdict(
        "live-lease-of-years",
        ask(record("PROCESSING", lease_until=MAX)),
        lease,
        "IN_PROGRESS",
        wait_ms=str(MAX - 1200),
    )
    verdict(
        "live-lease-at-a-higher-position",
        ask(record("PROCESSING", lease_until=1300), position=3),
        lease,
        "IN_PROGRESS",
        wait_ms="100",
    )
    verdict("live-lease-redriven", ask(record("PROCESSING", lease_until=1300), redrive=1), lease, "IN_PROGRESS", wait_ms="100",
            note="a live lease comes before a redrive")  # fmt: skip
    verdict(
        "live-lease-with-attempts-used-up",
        ask(record("PROCESSING", lease_until=1300, attempts=9)),
        lease,
        "IN_PROGRESS",
        wait_ms="100",
    )
    verdict(
        "live-lease-owner-differs-in-case",
        ask(record("PROCESSING", owner="W2", lease_until=1300)),
        lease,
        "IN_PROGRESS",
        wait_ms="100",
    )
    verdict(
        "live-lease-owner-is-a-prefix",
        ask(record("PROCESSING", owner="w", lease_until=1300)),
        lease,
        "IN_PROGRESS",
        wait_ms="100",
    )
    verdict(
        "live-lease-of-no-owner",
        ask(record("PROCESSING", owner="", lease_until=1300)),
        lease,
        "IN_PROGRESS",
        wait_ms="100",
    )
    proceed("own-live-lease", ask(record("PROCESSING", owner="w2", lease_until=1300)), lease, 3, 2, 1300, False,
            "the lost reply of this very claim")  # fmt: skip
    proceed(
        "own-live-lease-at-a-higher-position",
        ask(record("PROCESSING", owner="w2", lease_until=1300), position=3),
        lease,
        3,
        2,
        1300,
        False,
    )
    proceed(
        "own-live-lease-redriven",
        ask(record("PROCESSING", owner="w2", lease_until=1300), redrive=1),
        lease,
        3,
        2,
        1300,
        False,
    )
    proceed(
        "own-live-lease-with-attempts-used-up",
        ask(record("PROCESSING", owner="w2", lease_until=1300, attempts=9)),
        lease,
        3,
        9,
        1300,
        False,
    )
    proceed(
        "own-live-lease-of-no-name",
        ask(record("PROCESSING", owner="", lease_until=1300), owner=""),
        lease,
        3,
        2,
        1300,
        False,
    )
    proceed(
        "own-live-lease-longer-than-asked",
        ask(record("PROCESSING", owner="w2", lease_until=9999)),
        lease,
        3,
        2,
        9999,
        False,
    )

    # --- 8: expired leases and failures
    proceed("example", ask(record("PROCESSING")), "DEDUP-001 DEDUP-002 DEDUP-003", 4, 3, 1700, True)
    proceed(
        "lease-that-ends-now",
        ask(record("PROCESSING", lease_until=1200)),
        lease,
        4,
        3,
        1700,
        True,
        "live is later than now",
    )
    proceed(
        "lease-of-zero", ask(record("PROCESSING", lease_until=0), now=0), lease, 4, 3, 500, True
    )
    proceed("own-expired-lease", ask(record("PROCESSING", owner="w2")), "DEDUP-001 DEDUP-003", 4, 3, 1700, True,
            "an expired lease is nobody's")  # fmt: skip
    proceed(
        "expired-lease-at-a-higher-position",
        ask(record("PROCESSING"), position=1),
        "DEDUP-001 DEDUP-003",
        4,
        3,
        1700,
        True,
    )
    proceed("failed", ask(record("FAILED")), "DEDUP-001 DEDUP-003", 4, 3, 1700, False)
    proceed(
        "failed-at-a-higher-position",
        ask(record("FAILED", position=1), position=2),
        four,
        4,
        3,
        1700,
        False,
    )
    proceed(
        "failed-at-the-same-position",
        ask(record("FAILED", position=2), position=2),
        four,
        4,
        3,
        1700,
        False,
    )
    proceed("failed-same-owner", ask(record("FAILED", owner="w2")), one, 4, 3, 1700, False)
    proceed(
        "failed-same-redrive", ask(record("FAILED", redrive=2), redrive=2), one, 4, 3, 1700, False
    )
    proceed(
        "failed-position-compared-as-a-number",
        ask(record("FAILED", position=9), position=10),
        four,
        4,
        3,
        1700,
        False,
    )
    proceed("failed-without-attempts", ask(record("FAILED", attempts=0)), one, 4, 1, 1700, False)
    proceed(
        "failed-with-fence-zero",
        ask(record("FAILED", fence=0)),
        "DEDUP-002",
        1,
        3,
        1700,
        False,
        "a tombstone",
    )
    proceed(
        "failed-with-the-largest-fence",
        ask(record("FAILED", fence=MAX - 1)),
        "DEDUP-002 CONF-037",
        MAX,
        3,
        1700,
        False,
    )
    proceed(
        "failed-with-a-fence-that-cannot-grow",
        ask(record("FAILED", fence=MAX)),
        "DEDUP-002 CONF-037",
        MAX,
        3,
        1700,
        False,
    )
    proceed(
        "expired-beyond-the-largest-time",
        ask(record("PROCESSING"), now=MAX, lease=MAX),
        "DEDUP-002 CONF-037",
        4,
        3,
        MAX,
        True,
    )
    proceed(
        "failed-fence-above-double-precision",
        ask(record("FAILED", fence=2**53)),
        "DEDUP-002",
        2**53 + 1,
        3,
        1700,
        False,
    )
    proceed(
        "failed-with-equal-fingerprint",
        ask(record("FAILED", fingerprint=f"{T1}-{V1}"), fingerprint=f"{T1}-{V1}"),
        two,
        4,
        3,
        1700,
        False,
    )

    # --- 6: redrives
    for state, recovered in (("PROCESSING", True), ("FAILED", False), ("DEAD", False)):
        name = state.lower()
        proceed(
            f"{name}-redriven",
            ask(record(state), redrive=1),
            "DEDUP-001 DEDUP-003",
            4,
            1,
            1700,
            recovered,
        )
        proceed(
            f"{name}-redriven-at-a-lower-position",
            ask(record(state, position=9), redrive=1),
            "DEDUP-001 DEDUP-004",
            4,
            1,
            1700,
            recovered,
        )
        proceed(
            f"{name}-redriven-with-attempts-used-up",
            ask(record(state, attempts=9), redrive=1),
            one,
            4,
            1,
            1700,
            recovered,
        )
    proceed(
        "redrive-skips-a-number", ask(record("DEAD", redrive=1), redrive=5), one, 4, 1, 1700, False
    )
    proceed(
        "redrive-compared-as-a-higher-number",
        ask(record("DEAD", redrive=9), redrive=10),
        four,
        4,
        1,
        1700,
        False,
    )
    proceed(
        "redriven-without-fingerprint",
        ask(record("DEAD", fingerprint=f"{T1}-{V1}"), redrive=1),
        two,
        4,
        1,
        1700,
        False,
    )

    # --- 7: attempts used up
    for state in ("PROCESSING", "FAILED"):
        name = state.lower()
        verdict(
            f"{name}-attempts-reached",
            ask(record(state, attempts=9)),
            "DEDUP-001",
            "CRASH_LOOP",
        )
        verdict(f"{name}-attempts-exceeded", ask(record(state, attempts=10)), one, "CRASH_LOOP")
        proceed(
            f"{name}-last-attempt",
            ask(record(state, attempts=8)),
            one,
            4,
            9,
            1700,
            state == "PROCESSING",
        )
    verdict(
        "attempts-reached-at-a-higher-position",
        ask(record("FAILED", attempts=9), position=3),
        one,
        "CRASH_LOOP",
    )
    verdict("attempts-of-one", ask(record("FAILED", attempts=1), attempts=1), one, "CRASH_LOOP")
    verdict(
        "attempts-largest", ask(record("FAILED", attempts=MAX), attempts=MAX), one, "CRASH_LOOP"
    )
    proceed(
        "attempts-none-of-one",
        ask(record("FAILED", attempts=0), attempts=1),
        one,
        4,
        1,
        1700,
        False,
    )

    # --- shapes
    good = ask(record("FAILED"))
    processing = record("PROCESSING")
    g.faults(
        "CONF-021 CONF-036",
        {
            **{f"input-without-{name.replace('_', '-')}": without(good, name) for name in good},
            **{
                f"input-record-without-{name.replace('_', '-')}": ask(without(processing, name))
                for name in processing
            },
            "input-unknown-member": {**good, "scope": "payments"},
            "input-record-text": {**good, "record": "FAILED"},
            "input-record-empty": {**good, "record": {}},
            "input-record-unknown-member": ask({**record("FAILED"), "retry_count": "1"}),
            "input-record-state-unknown": ask({**record("FAILED"), "state": "NEW"}),
            "input-record-state-lower-case": ask({**record("FAILED"), "state": "failed"}),
            "input-record-lease-of-failed": ask({**record("FAILED"), "lease_until_ms": "0"}),
            "input-record-lease-of-success": ask({**record("SUCCESS"), "lease_until_ms": "0"}),
            "input-record-result-of-failed": ask({**record("FAILED"), "result": ""}),
            "input-record-result-of-processing": ask({**processing, "result": "00"}),
            "input-record-result-odd": ask({**record("SUCCESS"), "result": "0"}),
            "input-record-result-upper-case": ask({**record("SUCCESS"), "result": "FF"}),
            "input-record-fence-negative": ask(record("FAILED", fence=-1)),
            "input-record-fence-above-int64": ask(record("FAILED", fence=2**63)),
            "input-record-attempts-negative": ask(record("FAILED", attempts=-1)),
            "input-record-position-above-int64": ask(record("FAILED", position=2**63)),
            "input-record-redrive-negative": ask(record("FAILED", redrive=-1)),
            "input-record-lease-negative": ask(record("PROCESSING", lease_until=-1)),
            "input-record-fence-number": ask({**record("FAILED"), "fence": 3}),
            "input-record-owner-null": ask({**record("FAILED"), "owner": None}),
            "input-record-fingerprint-short": ask(record("FAILED", fingerprint="0a1b2c3d")),
            "input-record-fingerprint-null": ask({**record("FAILED"), "fingerprint": None}),
            "input-record-fingerprint-upper-case": ask(
                record("FAILED", fingerprint=f"{T1}-{V1}".upper())
            ),
            "input-fingerprint-without-hyphen": ask(None, fingerprint=f"{T1}{V1}"),
            "input-fingerprint-empty": ask(None, fingerprint=""),
            "input-fingerprint-line-feed": ask(None, fingerprint=f"{T1}-{V1}\n"),
            "input-delivery-null": {**good, "delivery": None},
            "input-delivery-without-position": {**good, "delivery": {"redrive_count": "0"}},
            "input-delivery-without-redrive": {**good, "delivery": {"position": "0"}},
            "input-delivery-unknown-member": {
                **good,
                "delivery": {**good["delivery"], "retry_count": "0"},
            },
            "input-delivery-position-negative": ask(None, position=-1),
            "input-delivery-redrive-above-int64": ask(None, redrive=2**63),
            "input-now-negative": ask(None, now=-1),
            "input-now-above-int64": ask(None, now=2**63),
            "input-lease-zero": ask(None, lease=0),
            "input-lease-negative": ask(None, lease=-1),
            "input-attempts-zero": ask(None, attempts=0),
            "input-attempts-number": {**good, "max_attempts": 9},
            "input-now-padded": {**good, "now_ms": "01200"},
            "input-owner-null": {**good, "owner": None},
            "input-owner-number": {**good, "owner": 2},
        },
    )
