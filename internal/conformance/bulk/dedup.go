package bulk

import (
	"strconv"
)

// most keeps the sums of times, fences and counts within int64: CONF-037.
const most = 1 << 61

func admit(r *random) *object {
	// Few different values, so that they are often equal.
	few := func() string {
		if r.percent(95) {
			return strconv.Itoa(r.below(4))
		}
		return good(r, 0, most)
	}
	now := pick(r, good(r, 0, most), strconv.Itoa(1000+r.below(5)))
	owners := []string{"w1", "w2", "", text(r)}
	o := new(object).set("record", nil)
	if r.percent(92) {
		o.members[0].value = record(r, few, now, owners)
	}
	o.set("delivery", new(object).set("redrive_count", few()).set("position", few())).
		set("now_ms", now).set("lease_ms", pick(r, "1", "500", good(r, 1, most))).
		set("max_attempts", pick(r, strconv.Itoa(r.between(1, 6)), good(r, 1, most))).
		set("owner", pick(r, owners...))
	if r.percent(55) {
		o.set("fingerprint", aFingerprint(r))
	}
	if r.percent(3) {
		// Out of range, one of them.
		m := &o.members[pick(r, 2, 3, 4)]
		m.value = pick(r, "-1", "0", "9223372036854775808", anyInteger(r))
		if m.name == "lease_ms" || m.name == "now_ms" {
			m.value = pick(r, "-1", "9223372036854775808")
		}
	}
	return o
}

func record(r *random, few func() string, now string, owners []string) *object {
	state := pick(r, "PROCESSING", "PROCESSING", "SUCCESS", "FAILED", "DEAD")
	if r.percent(1) {
		state = pick(r, "", "processing", "DONE")
	}
	rec := new(object).set("state", state).set("fence", pick(r, few(), good(r, 0, most))).set("attempts", pick(r, few(), strconv.Itoa(r.below(8)))).
		set("owner", pick(r, owners...)).set("redrive_count", few()).set("position", few())
	if state == "PROCESSING" {
		lease := pick(r, good(r, 0, most), now, now, near(r, now))
		rec.set("lease_until_ms", lease)
	}
	if state == "SUCCESS" && r.percent(70) {
		rec.set("result", hexBytes(r, 0, 12))
	}
	if r.percent(55) {
		rec.set("fingerprint", aFingerprint(r))
	}
	if r.percent(1) {
		rec.set(rec.free(pick(r, "result", "lease_until_ms")), "00")
	}
	return rec
}

// near returns a neighbour of n.
func near(r *random, n string) string {
	v, _ := strconv.ParseInt(n, 10, 64)
	return strconv.FormatInt(max(0, v+int64(r.between(-2, 2))), 10)
}

// aFingerprint returns one of few, so that two are often equal or comparable.
func aFingerprint(r *random) string {
	f := pick(r, "0a1b2c3d", "0a1b2c3d", "ffffffff") + "-" + pick(r, "ef46db3751d8e999", "0000000000000000")
	if r.percent(1) {
		return pick(r, "", "0A1B2C3D-ef46db3751d8e999", f+"0", f[1:], "0a1b2c3d_ef46db3751d8e999")
	}
	return f
}

func transition(r *random) *object {
	names := []string{"CREATED", "PAYING", "PAID", "REFUNDED", "CANCELLED", "SHIPPED", ""}
	if r.percent(15) {
		names = append([]string{text(r), "é", "e\u0301"}, names...)
	}
	if r.percent(30) {
		names = names[:r.between(2, len(names))]
	}
	edges := list{}
	var declared [][2]string
	for range r.between(1, 9) {
		i, j := r.below(len(names)), r.below(len(names))
		if i > j && !r.percent(6) { // forward, so that most machines have no cycle
			i, j = j, i
		}
		if i == j {
			if !r.percent(4) {
				continue
			}
		}
		declared = append(declared, [2]string{names[i], names[j]})
		edges = append(edges, with("from", names[i]).set("to", names[j]))
	}
	state := func() string {
		if r.percent(4) {
			return pick(r, "LOST", "paid", "PAID ")
		}
		if len(declared) > 0 && r.percent(80) {
			return declared[r.below(len(declared))][r.below(2)]
		}
		return pick(r, names...)
	}
	from, to := state(), state()
	if len(declared) > 0 && r.percent(85) {
		edge := declared[r.below(len(declared))]
		from, to = edge[0], edge[1]
	}
	return new(object).set("transitions", edges).set("current", state()).set("from", from).set("to", to)
}
