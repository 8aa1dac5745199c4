"""Every name works. rules.jsonl of public reports is where most come from."""

import hashlib
import importlib

import idemspec
import pytest

x_pb2 = importlib.import_module("import.v1.x.y_z_pb2")
x_idem = importlib.import_module("import.v1.x.y_z_idem")


def full():
    m = getattr(x_pb2, "class")(_y="4", len="5", idemspec=6, key="7", m=b"\x08")
    for number, name in enumerate(("None", "from", "__x"), 1):
        setattr(m, name, str(number))
    m.getattr, m.str, m.type, m._REDACTED_secret, m.secret = "9", 10, "11", "12", "13"
    inner = getattr(m, "def")
    setattr(inner, "from", "14")
    inner.n = 16
    m.def_from = "15"
    m.HasField = "17"
    return m


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def test_key():
    expected = f"names.class:v1:1:2:3:4:5:6:7:08:9:{digest('10')}:11:12:{digest('13')}:14:15:16:17"
    assert x_idem.classIdem.idempotency_key(full()) == expected
    assert dict(x_idem.classIdem.headers(full(), idemspec.Context())) == {
        "idempotency_key": expected,
        "event_type": "names.class",
        "idem_spec": "1",
    }


@pytest.mark.parametrize("field", ["None", "from", "__x", "len", "idemspec", "m", "secret"])
def test_missing(field: str):
    m = full()
    m.ClearField(field)
    with pytest.raises(idemspec.IdemError) as raised:
        x_idem.classIdem.idempotency_key(m)
    assert (raised.value.code, raised.value.field) == ("KEY_COMPONENT_MISSING", field)


def test_missing_below():
    for fields in (("from", "n"), ("n",)):
        m = full()
        for field in fields:
            getattr(m, "def").ClearField(field)
        with pytest.raises(idemspec.IdemError) as raised:
            x_idem.classIdem.idempotency_key(m)
        assert raised.value.field == f"def.{fields[0]}"


def test_private():
    private = getattr(x_idem, "__PrivateIdem")
    m = getattr(x_pb2, "__Private")()
    assert private.idempotency_key(m) == "names.private:v1:0"
    assert private.kafka_partition(m, 7) == idemspec.kafka_partition("0", 7)
    assert dict(private.headers(m, idemspec.Context()))["biz_key"] == "0"
    none = getattr(x_idem, "__PrivateNoneIdem")
    assert none.parse("class") == 1
    assert none.text(1) == "class"
