"""What has to run alone, since it may take the process along, and what goes on beside it."""

from __future__ import annotations

import math

from idemspec_runtime.breaker import BreakerState
from idemspec_runtime.delivery import Delivery, Mode
from idemspec_runtime.engine.claiming import Claiming
from idemspec_runtime.engine.monitor import EngineConfig, Monitor
from idemspec_runtime.engine.tasks import Part, Task
from idemspec_runtime.guard import Guard
from idemspec_runtime.message import Fetched
from idemspec_runtime.outages import Outages
from idemspec_runtime.postgres import PostgresStore
from idemspec_runtime.routes import route_of


def test_a_suspect_whose_route_rests_holds_up_no_quick_handler_of_another(
    store: PostgresStore,
) -> None:
    routes = [route_of(Mode.IDEMPOTENT, name, print, None, {}) for name in ("resting", "quick")]
    monitor = Monitor(routes, EngineConfig(workers=2, window=10, window_bytes=1000, batch=1))
    claiming = Claiming(monitor, Guard(store, "scope"), Outages(), lambda: None)
    part = Part("orders", 0, "orders")
    resting, quick = (monitor.lines[route.event_type] for route in routes)
    resting.route.breaker.state, resting.route.breaker.until = BreakerState.OPEN, math.inf
    quick.seconds = 1e-6
    suspect, other = (
        Task(Delivery(Fetched("orders", 0, n, None, b"", []), 0.0), part, line, 0)
        for n, line in enumerate((resting, quick))
    )
    monitor.suspects.append(suspect)
    monitor.wait(other)
    monitor.idle = 1
    with monitor.lock:
        assert claiming.carry(quick) == [] and claiming._fill() == [other]
