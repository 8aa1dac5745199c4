"""Lanes in a transaction, under lock where they are there (CONS-013, CONS-014)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ..records import Lane
from .work import Answer, Query, text, texts


class LaneId(NamedTuple):
    scope: str
    topic: str
    biz_key: str


def lane_id(scope: str, lane: Lane) -> LaneId:
    return LaneId(scope, lane.topic, text(lane.biz_key))


def lane_columns(lanes: Iterable[LaneId]) -> tuple[str, str, str]:
    scopes, topics, biz_keys = zip(*lanes, strict=True)
    return texts(scopes), texts(topics), texts(biz_keys)


def lane_lock(lanes: Iterable[LaneId]) -> Query:
    return Query("lane_lock", lane_columns(lanes))


def lane_release(lane: LaneId, key: str) -> Query:
    """Lets the next message of a lane go."""
    return Query("lane_release", (*lane, key))


@dataclass(slots=True)
class LockedLane:
    head: str = ""
    """Empty: there is no such lane."""
    made: bool = False
    """By this transaction, for the case that it is needed."""
    maker: str = ""
    """The key it was made with."""
    left: bool = False
    """The head leaves it in this transaction: who heads it then is known to the server alone."""


class LockedLanes:
    """The lanes of a transaction. They are locked in the order of their names, and after the
    records, in each transaction of the store."""

    def __init__(self) -> None:
        self.by_id: dict[LaneId, LockedLane] = {}

    def add(self, lane: LaneId) -> LockedLane:
        return self.by_id.setdefault(lane, LockedLane())

    def lock(self) -> list[Query]:
        """Makes those that have a maker, and reads the heads of all."""
        if not self.by_id:
            return []
        queries = []
        if making := [lane for lane, at in self.by_id.items() if at.maker]:
            heads = texts(self.by_id[lane].maker for lane in making)
            queries.append(Query("lane_make", (*lane_columns(making), heads)))
        queries.append(lane_lock(self.by_id))
        return queries

    def locked(self, answers: list[Answer]) -> None:
        *making, locked = answers
        for answer in making:
            for row in answer.rows:
                self.by_id[LaneId(*row)].made = True
        for *lane, head in locked.rows:
            at = self.by_id[LaneId(*lane)]
            if not at.made:  # one that was made counts once a settlement needs it
                at.head = head

    def writes(self) -> list[Query]:
        """Removes those that were made and are not needed, and names the heads of the others."""
        queries = []
        if unused := [lane for lane, at in self.by_id.items() if at.made and not at.head]:
            queries.append(Query("lane_drop", lane_columns(unused)))
        for lane, at in self.by_id.items():
            if at.made and at.head not in ("", at.maker):
                queries.append(Query("lane_head", (*lane, at.head)))
        return queries
