"""Verdicts of a state machine: STATE-001 to STATE-006."""

from group import Group, without

ORDER = "CREATED>PAYING PAYING>PAID PAID>REFUNDED CREATED>CANCELLED"
BIRTH = ">CREATED " + ORDER
DIAMOND = "A>B A>C B>D C>D D>E"


def ask(edges, current, origin, to):
    return {
        "transitions": [
            dict(zip(("from", "to"), edge.split(">"), strict=True))
            for edge in edges.split(" ")
            if edge
        ],
        "current": current,
        "from": origin,
        "to": to,
    }


def fill(g: Group) -> None:
    def add(slug, edges, current, origin, to, want, spec="STATE-004", note=""):
        known = want in ("APPLY", "DUPLICATE", "EARLY", "CONFLICT")
        g.add(
            slug, ask(edges, current, origin, to), spec, {"verdict": want} if known else want, note
        )

    # --- the example of the chapter: every edge against every state
    verdicts = {
        ("CREATED", "PAYING"): "EARLY APPLY DUPLICATE DUPLICATE DUPLICATE CONFLICT",
        ("PAYING", "PAID"): "EARLY EARLY APPLY DUPLICATE DUPLICATE CONFLICT",
        ("PAID", "REFUNDED"): "EARLY EARLY EARLY APPLY DUPLICATE CONFLICT",
        ("CREATED", "CANCELLED"): "EARLY APPLY CONFLICT CONFLICT CONFLICT DUPLICATE",
    }
    states = ("", "CREATED", "PAYING", "PAID", "REFUNDED", "CANCELLED")
    for (origin, to), wants in verdicts.items():
        for current, want in zip(states, wants.split(), strict=True):
            at = current.lower() or "no-row"
            spec = "STATE-002 STATE-004" if not current else "STATE-004"
            add(
                f"order-{origin.lower()}-to-{to.lower()}-at-{at}",
                ORDER,
                current,
                origin,
                to,
                want,
                spec,
            )

    # --- a machine with a birth: "" is a state like others
    for current, want in (
        ("", "APPLY"),
        ("CREATED", "DUPLICATE"),
        ("PAID", "DUPLICATE"),
        ("CANCELLED", "DUPLICATE"),
    ):
        add(
            f"birth-at-{current.lower() or 'no-row'}",
            BIRTH,
            current,
            "",
            "CREATED",
            want,
            "STATE-002 STATE-004",
        )
    for origin, to in verdicts:
        add(
            f"birth-still-to-come-for-{to.lower()}",
            BIRTH,
            "",
            origin,
            to,
            "EARLY",
            "STATE-002 STATE-004",
        )
    add("birth-of-two-machines", ">A A>B >X X>Y", "", "A", "B", "EARLY", "STATE-002 STATE-004")
    add("birth-into-the-other-branch", ">A >B", "B", "", "A", "CONFLICT", "STATE-002 STATE-004")
    add("birth-of-one-branch-alone", ">A B>C", "", "B", "C", "CONFLICT", "STATE-002 STATE-004",
        "there is an edge from no row, and none leads to B")  # fmt: skip
    add(
        "death-to-no-row",
        "A>B B>",
        "",
        "A",
        "B",
        "DUPLICATE",
        "STATE-002 STATE-004",
        "reached from B",
    )
    add("birth-missing", ORDER, "", "", "CREATED", "STATE_UNKNOWN", "STATE-003")

    # --- diamonds, chains, islands
    for current, origin, to, want in (
        ("A", "B", "D", "EARLY"), ("A", "D", "E", "EARLY"), ("B", "C", "D", "CONFLICT"), ("C", "C", "D", "APPLY"),
        ("D", "B", "D", "DUPLICATE"), ("D", "A", "B", "DUPLICATE"), ("D", "A", "C", "DUPLICATE"), ("E", "B", "D", "DUPLICATE"),
        ("B", "A", "C", "CONFLICT"), ("C", "A", "B", "CONFLICT"), ("E", "A", "B", "DUPLICATE"), ("B", "D", "E", "EARLY"),
    ):  # fmt: skip
        add(
            f"diamond-{origin.lower()}-to-{to.lower()}-at-{current.lower()}",
            DIAMOND,
            current,
            origin,
            to,
            want,
        )
    chain = " ".join(f"S{i}>S{i + 1}" for i in range(50))
    add("chain-from-the-far-start", chain, "S0", "S49", "S50", "EARLY")
    add("chain-from-the-far-end", chain, "S50", "S0", "S1", "DUPLICATE")
    add("chain-backwards-in-the-list", " ".join(reversed(chain.split(" "))), "S0", "S49", "S50", "EARLY",
        note="the order of edges says nothing")  # fmt: skip
    add("chain-one-before", chain, "S9", "S10", "S11", "EARLY")
    add("chain-one-past", chain, "S12", "S10", "S11", "DUPLICATE")
    add("shortcut-taken", "A>B B>C A>C", "C", "A", "B", "DUPLICATE")
    add(
        "shortcut-to-take",
        "A>B B>C A>C",
        "B",
        "A",
        "C",
        "CONFLICT",
        note="C is ahead, but A is not",
    )
    add("island", "A>B X>Y", "X", "A", "B", "CONFLICT")
    add("island-end", "A>B X>Y", "Y", "A", "B", "CONFLICT")
    add("two-ways-in", "A>C B>C", "B", "A", "C", "CONFLICT")
    add("two-ways-in-done", "A>C B>C", "C", "A", "C", "DUPLICATE")
    add("two-ways-out", "A>B A>C", "C", "A", "B", "CONFLICT")
    add("ladder-of-diamonds", " ".join(f"{a}{i}>{b}{i + 1}" for i in range(30) for a in "XY" for b in "XY"),
        "X0", "X29", "Y30", "EARLY", note="more than a billion paths, sixty-two states")  # fmt: skip
    add("edge-twice", ORDER + " PAYING>PAID", "PAYING", "PAYING", "PAID", "APPLY", "STATE-001")
    add("edge-alone", "A>B", "A", "A", "B", "APPLY")
    add("edge-alone-done", "A>B", "B", "A", "B", "DUPLICATE")
    add("edge-alone-no-row", "A>B", "", "A", "B", "EARLY", "STATE-002 STATE-004")

    # --- texts are bytes
    text = "STATE-006"
    add("case-differs", "PAID>Paid", "PAID", "PAID", "Paid", "APPLY", text)
    add(
        "case-of-the-current-state-differs",
        ORDER,
        "paid",
        "PAYING",
        "PAID",
        "STATE_UNKNOWN",
        "STATE-003 STATE-006",
    )
    add(
        "blank-at-the-end", ORDER, "PAID ", "PAYING", "PAID", "STATE_UNKNOWN", "STATE-003 STATE-006"
    )
    add(
        "letters-composed-and-decomposed",
        "\u00e9>e\u0301",
        "\u00e9",
        "\u00e9",
        "e\u0301",
        "APPLY",
        text,
    )
    add(
        "letters-decomposed-unknown",
        "\u00e9>X",
        "e\u0301",
        "\u00e9",
        "X",
        "STATE_UNKNOWN",
        "STATE-003 STATE-006",
    )
    add(
        "letters-outside-the-bmp",
        "\U0001f600>\U0001f601",
        "\U0001f601",
        "\U0001f600",
        "\U0001f601",
        "DUPLICATE",
        text,
    )
    add("prefix-of-another", "PAY>PAYING PAYING>PAID", "PAY", "PAYING", "PAID", "EARLY", text)
    add("texts-that-join-to-the-same", "A>BC AB>C", "A", "AB", "C", "CONFLICT", text)
    add("separators-in-texts", "A:B>C A>B:C", "A", "A", "B:C", "APPLY", text)

    # --- faults
    cycle = "STATE_CYCLE"
    one = "STATE-001"
    add("cycle-of-one", "A>A", "A", "A", "A", cycle, one)
    add("cycle-of-one-elsewhere", "A>B X>X", "A", "A", "B", cycle, one)
    add("cycle-of-two", "A>B B>A", "A", "A", "B", cycle, one)
    add("cycle-of-three", "A>B B>C C>A", "A", "A", "B", cycle, one)
    add("cycle-off-the-path", "A>B B>C X>Y Y>Z Z>X", "A", "A", "B", cycle, one)
    add("cycle-behind-the-edge", "A>B B>C C>D D>C", "A", "A", "B", cycle, one)
    add("cycle-through-no-row", ">A A>", "", "", "A", cycle, one)
    add("cycle-at-the-end-of-a-chain", chain + " S50>S0", "S0", "S0", "S1", cycle, one)
    add("cycle-before-unknown", "A>A", "Q", "Q", "R", cycle, "STATE-001 STATE-003")
    add("cycle-before-undeclared", "A>B B>A B>C", "A", "A", "C", cycle, "STATE-001 STATE-003")
    unknown, undeclared, three = "STATE_UNKNOWN", "TRANSITION_UNDECLARED", "STATE-003"
    add("from-unknown", ORDER, "PAYING", "PENDING", "PAID", unknown, three)
    add("to-unknown", ORDER, "PAYING", "PAYING", "SHIPPED", unknown, three)
    add("from-and-to-unknown", ORDER, "PAYING", "A", "B", unknown, three)
    add("current-unknown", ORDER, "SHIPPED", "PAYING", "PAID", unknown, three)
    add("current-equals-an-unknown-from", ORDER, "PENDING", "PENDING", "PAID", unknown, three)
    add("to-empty", ORDER, "PAYING", "PAYING", "", unknown, three)
    add("from-unknown-at-no-row", ORDER, "", "PENDING", "PAID", unknown, three)
    add("no-transitions", "", "PAYING", "PAYING", "PAID", unknown, three)
    add("no-transitions-at-no-row", "", "", "", "", unknown, three)
    add("undeclared-shortcut", ORDER, "CREATED", "CREATED", "PAID", undeclared, three)
    add("undeclared-backwards", ORDER, "PAID", "PAID", "PAYING", undeclared, three)
    add("undeclared-to-itself", ORDER, "PAID", "PAID", "PAID", undeclared, three)
    add("undeclared-across", ORDER, "PAID", "PAID", "CANCELLED", undeclared, three)
    add("undeclared-at-no-row", ORDER, "", "CREATED", "PAID", undeclared, three)
    add("undeclared-where-current-is-to", ORDER, "PAID", "CREATED", "PAID", undeclared, three)
    add("undeclared-birth", BIRTH, "", "", "PAYING", undeclared, three)
    add("unknown-current-before-undeclared", ORDER, "SHIPPED", "CREATED", "PAID", unknown, three)
    add("unknown-from-before-undeclared", ORDER, "CREATED", "PENDING", "CREATED", unknown, three)

    good = ask(ORDER, "PAYING", "PAYING", "PAID")
    edges = good["transitions"]
    g.faults(
        "CONF-021",
        {
            **{f"input-without-{name}": without(good, name) for name in good},
            "input-unknown-member": {**good, "state_machine": "Order"},
            "input-transitions-null": {**good, "transitions": None},
            "input-transitions-object": {**good, "transitions": {"A": "B"}},
            "input-transition-pair": {**good, "transitions": [["A", "B"]]},
            "input-transition-without-to": {**good, "transitions": [*edges, {"from": "A"}]},
            "input-transition-unknown-member": {
                **good,
                "transitions": [*edges, {"from": "A", "to": "B", "on": "x"}],
            },
            "input-transition-null": {**good, "transitions": [*edges, {"from": None, "to": "A"}]},
            "input-current-null": {**good, "current": None},
            "input-from-number": {**good, "from": 1},
            "input-before-cycle": {**ask("A>A", "A", "A", "A"), "current": None},
        },
    )
