"""Measures generated Python beside its limit and its peer.

    PYTHONPATH=gen python measure_keys.py --rounds 50 --milliseconds 5

Contenders take turns in one process: a round runs each of them for a few milliseconds of processor
time, so that whatever else the machine does meets all of them. Prints a JSON object: for each
contender its nanoseconds in every round.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable

import limit
import messages
import peers
from bench.v1.payment_idem import PaymentSettledIdem
from google.protobuf.internal import api_implementation
from google.protobuf.json_format import MessageToDict
from shop.v1.payment_idem import PaymentSucceededIdem


def contenders() -> dict[str, Callable[[], object]]:
    succeeded, settled = messages.succeeded(), messages.settled()
    # Of a dict at hand, Powertools' users select the fields of the key.
    data = MessageToDict(settled, preserving_proto_field_name=True)
    one = {"payment_id": data["payment_id"]}
    four = {name: data[name] for name in ("payment_id", "amount", "currency", "occurred_at")}
    return {
        "KeyOf1/idem": lambda: PaymentSucceededIdem.idempotency_key(succeeded),
        "KeyOf1/limit": lambda: limit.shop_key(succeeded),
        "KeyOf1/json-md5": lambda: peers.of_message(succeeded),
        "KeyOf1/dict-json-md5": lambda: peers.of_dict(one),
        "KeyOf4/idem": lambda: PaymentSettledIdem.idempotency_key(settled),
        "KeyOf4/limit": lambda: limit.settled_key(settled),
        "KeyOf4/json-md5": lambda: peers.of_message(settled),
        "KeyOf4/dict-json-md5": lambda: peers.of_dict(four),
        "Headers/idem": lambda: PaymentSucceededIdem.headers(succeeded, messages.CONTEXT),
    }


def run(call: Callable[[], object], times: int) -> float:
    """Nanoseconds of processor time for each of many calls."""
    began = time.process_time_ns()
    for _ in range(times):
        call()
    return (time.process_time_ns() - began) / times


def measure(rounds: int, milliseconds: float) -> dict[str, list[float]]:
    calls = contenders()
    times = {}
    for name, call in calls.items():
        run(call, 200)
        times[name] = max(1, int(milliseconds * 1e6 / run(call, 200)))
    gc.disable()
    figures: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            figures[name].append(run(call, times[name]))
        gc.collect()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--milliseconds", type=float, default=5)
    arguments = parser.parse_args()
    implementation = f"protobuf {api_implementation.Type()}"
    figures = measure(arguments.rounds, arguments.milliseconds)
    json.dump({"protobuf": implementation, "figures": figures}, sys.stdout)


if __name__ == "__main__":
    main()
