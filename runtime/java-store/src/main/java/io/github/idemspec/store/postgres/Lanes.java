package io.github.idemspec.store.postgres;

import io.github.idemspec.store.Lane;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The lanes of one transaction, under lock where they are there. */
final class Lanes {
  /** The name of a lane. */
  record Id(String scope, String topic, String bizKey) {
    static Id of(String scope, Lane lane) {
      return new Id(scope, lane.topic(), Column.text(lane.bizKey()));
    }
  }

  /** A row of idem_lane. */
  static final class At {
    /** The key that heads it; empty where there is no such lane. */
    String head = "";

    /** By this transaction, for the case that it is needed. */
    boolean made;

    /** The key it was made with. */
    String maker = "";

    /** The head leaves it here: who heads it then is known to the server alone. */
    boolean left;
  }

  private final Map<Id, At> lanes = new LinkedHashMap<>();

  At add(Id id) {
    return lanes.computeIfAbsent(id, i -> new At());
  }

  At get(Id id) {
    return lanes.get(id);
  }

  /**
   * Makes those that have a maker, and reads the heads of all. They are locked in the order of their
   * names, and after the records, in each transaction of the store.
   */
  void lock(Step step) {
    if (lanes.isEmpty()) {
      return;
    }
    List<Id> making = new ArrayList<>();
    lanes.forEach(
        (id, at) -> {
          if (!at.maker.isEmpty()) {
            making.add(id);
          }
        });
    if (!making.isEmpty()) {
      step.query(
          "lane_make",
          rows -> each(rows, at -> at.made = true),
          scopes(making),
          topics(making),
          bizKeys(making),
          Column.texts(making, id -> lanes.get(id).maker));
    }
    List<Id> all = new ArrayList<>(lanes.keySet());
    step.query("lane_lock", this::read, scopes(all), topics(all), bizKeys(all));
  }

  private void read(ResultSet rows) throws SQLException {
    while (rows.next()) {
      At at = at(rows);
      if (!at.made) { // One that was made counts once a settlement needs it.
        at.head = rows.getString(4);
      }
    }
  }

  private void each(ResultSet rows, Consumer<At> with) throws SQLException {
    while (rows.next()) {
      with.accept(at(rows));
    }
  }

  private At at(ResultSet rows) throws SQLException {
    return lanes.get(new Id(rows.getString(1), rows.getString(2), rows.getString(3)));
  }

  /** Removes those that were made and are not needed, and names the heads of those that are. */
  void write(Step step) {
    List<Id> unused = new ArrayList<>();
    lanes.forEach(
        (id, at) -> {
          if (at.made && at.head.isEmpty()) {
            unused.add(id);
          } else if (at.made && !at.head.equals(at.maker)) {
            step.run("lane_head", id.scope, id.topic, id.bizKey, at.head);
          }
        });
    if (!unused.isEmpty()) {
      step.run("lane_drop", scopes(unused), topics(unused), bizKeys(unused));
    }
  }

  /** Lets the next message of a lane go. */
  static void release(Step step, Id id, String key) {
    step.run("lane_release", id.scope, id.topic, id.bizKey, key);
  }

  static Column scopes(List<Id> of) {
    return Column.texts(of, Id::scope);
  }

  static Column topics(List<Id> of) {
    return Column.texts(of, Id::topic);
  }

  static Column bizKeys(List<Id> of) {
    return Column.texts(of, Id::bizKey);
  }
}
