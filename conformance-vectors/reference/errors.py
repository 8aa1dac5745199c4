"""Chapter 13: the one table of error codes."""

CODES = frozenset(
    """
    DECIMAL_SYNTAX DECIMAL_RANGE DECIMAL_SCALE
    MONEY_CURRENCY MONEY_RANGE
    TIMESTAMP_SYNTAX TIMESTAMP_RANGE
    DURATION_RANGE DATE_RANGE UUID_SYNTAX STRING_UTF8 INT_RANGE
    KEY_COMPONENT_MISSING KEY_TOO_LONG KEY_EMPTY KEY_SYNTAX
    PARTITION_COUNT
    HEADER_CONFLICT HEADER_UTF8 HEADER_SYNTAX HEADER_RANGE SPEC_VERSION
    POLICY_RANGE
    STATE_CYCLE STATE_UNKNOWN TRANSITION_UNDECLARED
    PAYLOAD_INVALID INPUT_INVALID
    """.split()
)


class Fault(Exception):
    """The other outcome of an operation: a code, and a word for people."""

    def __init__(self, code: str, detail: str = "") -> None:
        assert code in CODES, code
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
