"""Ports that are known to be wrong, each in the one way that is its name. Real libraries have done all of it."""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType

from judge import CORE


@dataclass(frozen=True)
class WrongPort:
    """The core with one passage of one module replaced."""

    name: str
    module: str
    right: str
    wrong: str

    def code(self) -> CodeType:
        path = CORE / f"{self.module}.py"
        source = path.read_text()
        if source.count(self.right) != 1:
            raise SystemExit(
                f"wrong_ports.py: {self.name}: {path.name} has not one {self.right!r}: mend the entry"
            )
        return compile(source.replace(self.right, self.wrong), str(path), "exec")


WRONG_PORTS = (
    # Hash and routing
    WrongPort(
        "little-endian hash",
        "hashing",
        "return xxh64_hexdigest(value if isinstance(value, bytes) else utf8(value))",
        "return bytes.fromhex(xxh64_hexdigest(value if isinstance(value, bytes) else utf8(value)))[::-1].hex()",
    ),
    WrongPort(
        "upper-case hash",
        "hashing",
        "return xxh64_hexdigest(value if isinstance(value, bytes) else utf8(value))",
        "return xxh64_hexdigest(value if isinstance(value, bytes) else utf8(value)).upper()",
    ),
    WrongPort(
        "hash without leading zeros",
        "hashing",
        "return xxh64_hexdigest(value if isinstance(value, bytes) else utf8(value))",
        "return format(xxh64_intdigest(value if isinstance(value, bytes) else utf8(value)), 'x')",
    ),
    WrongPort(
        "another seed",
        "hashing",
        "return xxh64_intdigest(value if isinstance(value, bytes) else utf8(value))",
        "return xxh64_intdigest(value if isinstance(value, bytes) else utf8(value), seed=1)",
    ),
    WrongPort(
        "signed modulo",
        "routing",
        "return hashed % n",
        "return abs(hashed - (1 << 64) if hashed >> 63 else hashed) % n",
    ),
    WrongPort(
        "floor modulo of a signed hash",
        "routing",
        "return hashed % n",
        "return (hashed - (1 << 64) if hashed >> 63 else hashed) % n",
    ),
    WrongPort(
        "hash through a double", "routing", "return hashed % n", "return int(float(hashed)) % n"
    ),
    WrongPort(
        "hash narrowed to 32 bits",
        "routing",
        "return hashed % n",
        "return (hashed & 0xFFFFFFFF) % n",
    ),
    WrongPort(
        "signed lane",
        "routing",
        "return (hashed >> 32) % n",
        "return (hashed - (1 << 64) if hashed >> 63 else hashed) // (1 << 32) % n",
    ),
    WrongPort(
        "lane by the shard's bits", "routing", "return (hashed >> 32) % n", "return hashed % n"
    ),
    WrongPort("partition without the mask", "routing", "& 0x7FFF_FFFF) % n", "& 0xFFFF_FFFF) % n"),
    WrongPort(
        "partition by abs",
        "routing",
        "return (_murmur2(_routed(biz_key, n)) & 0x7FFF_FFFF) % n",
        "h = _murmur2(_routed(biz_key, n)); return abs(h - (1 << 32) if h >> 31 else h) % n",
    ),
    WrongPort(
        "partition from signed bytes",
        "routing",
        'int.from_bytes(rest, "little")',
        "sum((b - 256 if b > 127 else b) << 8 * i for i, b in enumerate(rest))",
    ),
    WrongPort("big-endian murmur words", "routing", 'f"<{words}I"', 'f">{words}I"'),
    # Text and components
    WrongPort("lower-case %xx", "strings", "%{byte:02X}", "%{byte:02x}"),
    WrongPort(
        "~ not escaped", "strings", 'r"[A-Za-z0-9._-]{0,1024}"', 'r"[A-Za-z0-9._~-]{0,1024}"'
    ),
    WrongPort(
        "blank becomes plus",
        "strings",
        'return "".join(map(_ESCAPED.__getitem__, value[:limit].encode()))',
        'return "".join(map(_ESCAPED.__getitem__, value[:limit].encode())).replace("%20", "+")',
    ),
    WrongPort(
        "UTF-16 units escaped",
        "strings",
        "value[:limit].encode()))",
        'value[:limit].encode("utf-16-be")[1::2]))',
    ),
    WrongPort(
        "surrogates replaced",
        "strings",
        "    if found := _surrogate(value):\n        raise _ill_formed(value, field, len(value[: found.start()].encode()))\n    return value",
        "    return _surrogate_free(value)\n\n\ndef _surrogate_free(value: str) -> str:\n    return re.sub('[\\ud800-\\udfff]', '\\ufffd', value)",
    ),
    WrongPort(
        "surrogates as CESU-8",
        "strings",
        "return value.decode()\n",
        "return value.decode('utf-8', 'surrogatepass').encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')\n",
    ),
    WrongPort(
        "ill-formed bytes replaced",
        "strings",
        "            return value.decode()\n",
        "            return value.decode('utf-8', 'replace')\n",
    ),
    WrongPort(
        "text trimmed",
        "strings",
        "    if _is_safe(value):\n",
        "    value = value.strip()\n    if _is_safe(value):\n",
    ),
    WrongPort(
        "text in lower case",
        "strings",
        "    if _is_safe(value):\n",
        "    value = value.lower()\n    if _is_safe(value):\n",
    ),
    WrongPort(
        "text normalised",
        "strings",
        "    if _is_safe(value):\n",
        "    import unicodedata\n    value = unicodedata.normalize('NFC', value)\n    if _is_safe(value):\n",
    ),
    WrongPort(
        "byte order mark dropped",
        "strings",
        "            return value.decode()\n",
        "            return value.decode('utf-8-sig')\n",
    ),
    WrongPort(
        "booleans as the language prints them",
        "scalars",
        'return "true" if value else "false"',
        "return str(value)",
    ),
    WrongPort(
        "integers wrap",
        "scalars",
        "    least, most = INTEGER_TYPES[of]\n    if not least <= value <= most:",
        "    least, most = INTEGER_TYPES[of]\n    value = (value - least) % (most - least + 1) + least\n    if not least <= value <= most:",
    ),
    WrongPort(
        "integers through a double", "scalars", "return str(value)", "return str(int(float(value)))"
    ),
    WrongPort("fixed64 signed", "scalars", '"fixed64": _UINT64', '"fixed64": _INT64'),
    WrongPort(
        "hex in upper case",
        "scalars",
        "return value[:limit].hex()",
        "return value[:limit].hex().upper()",
    ),
    WrongPort(
        "digest of the escaped text",
        "digests",
        "return sha256(utf8(value, field))",
        "from .strings import text; return sha256(text(value, field, None).encode())",
    ),
    # Decimals, money
    WrongPort(
        "lenient decimal: blanks",
        "decimals",
        "parsed = _parse(value)",
        "parsed = _parse(value.strip())",
    ),
    WrongPort(
        "lenient decimal: a line feed",
        "decimals",
        "parsed = _parse(value)",
        "parsed = _parse(value.removesuffix('\\n'))",
    ),
    WrongPort(
        "lenient decimal: locale digits",
        "decimals",
        "parsed = _parse(value)",
        "import unicodedata; parsed = _parse(''.join(str(unicodedata.digit(c, c)) for c in value))",
    ),
    WrongPort(
        "lenient decimal: commas",
        "decimals",
        "parsed = _parse(value)",
        "parsed = _parse(value.replace(',', ''))",
    ),
    WrongPort(
        "lenient decimal: empty is zero",
        "decimals",
        "parsed = _parse(value)",
        "parsed = _parse(value or '0')",
    ),
    WrongPort(
        "decimal through a double",
        "decimals",
        '    minus = "-" if sign == "-" else ""\n',
        '    import decimal as d\n    if scale and abs(float(value)) < 1e15: return format(d.Decimal(repr(float(value))).normalize(), \'f\')\n    minus = "-" if sign == "-" else ""\n',
    ),
    WrongPort(
        "decimal rounded to its scale",
        "decimals",
        "    if max_scale is not None and scale > max_scale:\n",
        "    if max_scale is not None and scale > max_scale:\n        import decimal as d\n        return format(round(d.Decimal(value), max_scale), 'f')\n",
    ),
    WrongPort("decimal keeps trailing zeros", "decimals", 'digits = digits.rstrip("0")', "pass"),
    WrongPort(
        "negative zero",
        "decimals",
        '        return "0"\n',
        "        return f\"{sign.replace(chr(43), '')}0\"\n",
    ),
    WrongPort("money without padded nanos", "amounts", ":09d", ":d"),
    WrongPort(
        "money by a sum of nanos",
        "amounts",
        'f"{currency_code}{minus}{abs(units)}{fraction}"',
        'f"{currency_code}{minus}{abs(int(float(units)))}{fraction}"',
    ),
    WrongPort(
        "money loses its sign below one", "amounts", "if units < 0 or nanos < 0", "if units < 0"
    ),
    # Times
    WrongPort(
        "timestamp rounded, not cut",
        "timestamps",
        "{f'{nanos:09d}'[:fraction_digits]}",
        "{round(nanos / 10 ** (9 - fraction_digits)):0{fraction_digits}d}",
    ),
    WrongPort(
        "timestamp without trailing zeros",
        "timestamps",
        "{f'{nanos:09d}'[:fraction_digits]}Z",
        "{f'{nanos:09d}'[:fraction_digits].rstrip(chr(48))}Z",
    ),
    WrongPort(
        "timestamp truncated before the epoch",
        "timestamps",
        "seconds, rest = divmod(value, _UNITS[unit])",
        "seconds, rest = int(value / _UNITS[unit]), abs(value) % _UNITS[unit]",
    ),
    WrongPort(
        "lenient timestamp: lower case",
        "timestamps",
        "parsed = _parse(value)\n    if",
        "parsed = _parse(value.upper())\n    if",
    ),
    WrongPort(
        "lenient timestamp: blanks",
        "timestamps",
        "parsed = _parse(value)\n    if",
        "parsed = _parse(value.strip())\n    if",
    ),
    WrongPort(
        "lenient timestamp: a comma",
        "timestamps",
        "parsed = _parse(value)\n    if",
        "parsed = _parse(value.replace(',', '.'))\n    if",
    ),
    WrongPort(
        "lenient timestamp: 30 February rolls over",
        "timestamps",
        "if d <= days_in_month(y, m):",
        "if True:",
    ),
    WrongPort(
        "lenient timestamp: a leap second",
        "timestamps",
        r":([0-5][0-9]):([0-5][0-9])(?:",
        r":([0-5][0-9]):([0-5][0-9]|60)(?:",
    ),
    WrongPort("lenient timestamp: ten fraction digits", "timestamps", "[0-9]{1,9}", "[0-9]{1,12}"),
    WrongPort(
        "lenient timestamp: offset of 24 hours",
        "timestamps",
        "([+-])([01][0-9]|2[0-3])",
        "([+-])([01][0-9]|2[0-4])",
    ),
    WrongPort(
        "offset added, not taken off",
        "timestamps",
        'if sign == "-" else -offset',
        'if sign == "+" else -offset',
    ),
    WrongPort(
        "offset without its minutes",
        "timestamps",
        "offset = 3600 * int(hours) + 60 * int(minutes)",
        "offset = 3600 * int(hours)",
    ),
    WrongPort(
        "Julian leap years",
        "dates",
        "leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)",
        "leap = year % 4 == 0",
    ),
    WrongPort(
        "duration floored",
        "durations",
        '    fraction = f"{abs(nanos):09d}"[:fraction_digits]\n',
        '    total = seconds * 10**9 + nanos\n    total = total // 10 ** (9 - fraction_digits) * 10 ** (9 - fraction_digits)\n    seconds, nanos = (total // 10**9, total % 10**9) if total >= 0 else (-(-total // 10**9), -(-total % 10**9))\n    fraction = f"{abs(nanos):09d}"[:fraction_digits]\n',
    ),
    WrongPort("negative zero duration", "durations", "if not nothing and (", "if ("),
    WrongPort(
        "lenient UUID: braces",
        "uuids",
        "if not _is_uuid(value):",
        "value = value.strip('{}')\n    if not _is_uuid(value):",
    ),
    WrongPort(
        "lenient UUID: a URN",
        "uuids",
        "if not _is_uuid(value):",
        "value = value.removeprefix('urn:uuid:')\n    if not _is_uuid(value):",
    ),
    WrongPort("UUID case kept", "uuids", "return value.lower()", "return value"),
    # Retry
    WrongPort(
        "off-by-one retry",
        "decisions",
        "retry_count < policy.max_retry",
        "retry_count <= policy.max_retry",
    ),
    WrongPort(
        "off-by-one hold",
        "decisions",
        "hold_count < policy.max_hold",
        "hold_count <= policy.max_hold",
    ),
    WrongPort(
        "backoff by float pow",
        "delays",
        "return cap if base > cap >> n else base << n",
        "import math; return int(min(float(cap), base * math.exp(min(n, 700) * math.log(2))))",
    ),
    WrongPort(
        "backoff wraps in 64 bits",
        "delays",
        "return cap if base > cap >> n else base << n",
        "d = (base << n % 64) % (1 << 64); d = d - (1 << 64) if d >> 63 else d; return min(d, cap)",
    ),
    WrongPort(
        "backoff shifted modulo 32",
        "delays",
        "return cap if base > cap >> n else base << n",
        "return min(base << n % 32, cap)",
    ),
    WrongPort(
        "backoff from the second step",
        "delays",
        "return cap if base > cap >> n else base << n",
        "n += 1; return cap if base > cap >> n else base << n",
    ),
    WrongPort(
        "jitter without its largest value",
        "delays",
        "% (policy.backoff_jitter + 1)",
        "% max(policy.backoff_jitter, 1)",
    ),
    WrongPort("jitter without the count", "delays", 'hash64(f"{key}#{n}")', "hash64(key)"),
    WrongPort(
        "jitter inside the cap",
        "delays",
        "return self.base_ms + self.jitter_ms",
        "return max(self.base_ms, self.jitter_ms)",
    ),
    WrongPort(
        "Retry-After ignored",
        "delays",
        "max(base_part(n, policy), min(retry_after_ms, MAX_WAIT_MS))",
        "base_part(n, policy)",
    ),
    WrongPort(
        "Retry-After in place of the base",
        "delays",
        "max(base_part(n, policy), min(retry_after_ms, MAX_WAIT_MS))",
        "min(retry_after_ms, MAX_WAIT_MS) or base_part(n, policy)",
    ),
    WrongPort(
        "schedule repeats from its start",
        "delays",
        "schedule[min(n, len(schedule) - 1)]",
        "schedule[n % len(schedule)]",
    ),
    WrongPort(
        "a hold costs a retry",
        "decisions",
        "return Decision(Action.HOLD, delay, retry_count, hold_count + 1, reason)",
        "return Decision(Action.HOLD, delay, retry_count + 1, hold_count + 1, reason)",
    ),
    WrongPort(
        "a deferral costs a retry",
        "decisions",
        "return Decision(Action.DEFER, delay, retry_count, hold_count)",
        "return Decision(Action.DEFER, delay, retry_count + 1, hold_count)",
    ),
    # Admission and states
    WrongPort(
        "STALE forgotten", "admission", "if redriven < 0 or (redriven == 0 and over):", "if False:"
    ),
    WrongPort("fence not raised", "admission", "record.fence + 1,", "record.fence,"),
    WrongPort(
        "lease ignored", "admission", "if claimed and record.lease_until_ms > now_ms:", "if False:"
    ),
    WrongPort(
        "lease ends too late",
        "admission",
        "record.lease_until_ms > now_ms",
        "record.lease_until_ms >= now_ms",
    ),
    WrongPort("owner ignored", "admission", "if record.owner != owner:", "if True:"),
    WrongPort("attempts never end", "admission", "if attempts >= max_attempts:", "if False:"),
    WrongPort(
        "a redrive keeps its attempts",
        "admission",
        "attempts = 0 if redriven else record.attempts",
        "attempts = record.attempts",
    ),
    WrongPort(
        "fingerprint after SUCCESS",
        "admission",
        "    if conflict(record.fingerprint, delivery.fingerprint):\n",
        "    if record.state is RecordState.SUCCESS:\n        return Admission(AdmissionVerdict.DUPLICATE, result=record.result)\n    if conflict(record.fingerprint, delivery.fingerprint):\n",
    ),
    WrongPort(
        "fingerprints of other templates compared",
        "fingerprints",
        "and one[:8] == other[:8] and",
        "and",
    ),
    WrongPort(
        "early is dropped", "states", "return StateVerdict.EARLY", "return StateVerdict.CONFLICT"
    ),
    WrongPort(
        "no look behind the state",
        "states",
        "if current == after or self._reaches(after, current):",
        "if current == after:",
    ),
    # Headers
    WrongPort(
        "the last of several headers wins",
        "headers",
        '    if others:\n        raise _fault("HEADER_CONFLICT", header, found)\n',
        "    if others:\n        found = others[-1]\n",
    ),
    WrongPort(
        "header names without case",
        "transports",
        "def known_header(transport: Transport, name: str) -> Header | None:",
        "def known_header(transport: Transport, name: str, _f=lambda t, n: _known(t, n.lower() if t is not Transport.HTTP else n)) -> Header | None:\n    return _f(transport, name)\n\n\ndef _known(transport: Transport, name: str) -> Header | None:",
    ),
    WrongPort(
        "lenient header integers",
        "header_table",
        '_is_integer = re.compile(r"0|[1-9][0-9]*").fullmatch',
        '_is_integer = re.compile(r"\\s*[0-9]+\\s*").fullmatch',
    ),
    WrongPort(
        "null is empty",
        "headers",
        "        elif value is not None:\n",
        "        else:\n            value = b'' if value is None else value\n",
    ),
    WrongPort(
        "headers appended, not replaced",
        "headers",
        "        if header.name in changes:\n",
        "        if header.name in changes and header.name in known and header.name == 'retry_count':\n            pairs.append((name, known[header.name][0]))\n        if header.name in changes:\n",
    ),
)
