package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// model is a store as spec chapters 9 and 16 describe one, as simple as can be: lists, no locks, no use of
// idem.Admit or store.Claim.Admit. Its clock counts from 0. Records expire by eras: a jump over the
// retention begins another one, and everything that has not changed since is expired.
type model struct {
	now     time.Duration
	era     int
	records []*mRecord
	rows    []*mRow
	lanes   []*mLane
	letters []*mLetter
	lastRow int
	lastDie int
}

type mRecord struct {
	scope, key          string
	state               string
	fence, attempts     int64
	owner               string
	redrive, position   int64
	retry, hold         int32
	until               time.Duration
	ended               time.Duration // the lease of a claim that a claim of two keys ended by a SUCCESS
	fingerprint, result string
	era                 int
}

type mRow struct {
	store.Retry
	order   int
	at      time.Duration // due
	claimed time.Duration // until; 0 where it is not
	token   string
	parked  bool
}

type mLane struct {
	scope string
	store.Lane
	head string
}

type mLetter struct {
	store.DeadLetter
	order    int
	redriven bool
}

func (m *model) find(scope, key string) *mRecord {
	for _, r := range m.records {
		if r.scope == scope && r.key == key {
			return r
		}
	}
	return nil
}

func (m *model) need(scope, key string) *mRecord {
	r := m.find(scope, key)
	if r == nil {
		r = &mRecord{scope: scope, key: key}
		m.records = append(m.records, r)
	}
	r.era = m.era
	return r
}

func (m *model) lane(scope string, l store.Lane) *mLane {
	for _, x := range m.lanes {
		if x.scope == scope && x.Lane == l {
			return x
		}
	}
	return nil
}

// verdict goes through the steps of DEDUP-001.
func (m *model) verdict(c store.Claim, key string) string {
	r := m.find(c.Scope, key)
	position := int64(c.RetryCount) + int64(c.HoldCount)
	redrive := int64(c.RedriveCount)
	switch {
	case r == nil:
		return "PROCEED"
	case comparableAndDiffer(r.fingerprint, c.Fingerprint):
		return "KEY_REUSED"
	case r.state == "SUCCESS":
		return "DUPLICATE"
	case redrive < r.redrive, redrive == r.redrive && r.state == "DEAD", redrive == r.redrive && position < r.position:
		return "STALE"
	case r.state == "PROCESSING" && r.until > m.now && r.owner == c.Owner:
		return "PROCEED AGAIN"
	case r.state == "PROCESSING" && r.until > m.now:
		return "IN_PROGRESS"
	case redrive > r.redrive:
		return "PROCEED"
	case r.attempts >= c.MaxAttempts:
		return "CRASH_LOOP"
	}
	return "PROCEED"
}

// comparableAndDiffer is HASH-031: the first part names the template.
func comparableAndDiffer(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	a1, a2, _ := strings.Cut(a, "-")
	b1, b2, _ := strings.Cut(b, "-")
	return a1 == b1 && a2 != b2
}

// claim answers a batch. Keys that were claimed in it are in progress; so may those be that came before in
// it and were not claimed, as the store likes: waits says which claims it has made wait. (DEDUP-025)
func (m *model) claim(claims []store.Claim, waits []bool) []string {
	taken, seen := make(map[[2]string]bool), make(map[[2]string]bool)
	answers := make([]string, len(claims))
	for i, c := range claims {
		keys := []string{c.Key}
		if c.Previous != "" && c.Previous != c.Key {
			keys = append(keys, c.Previous)
		}
		before := false
		for _, key := range keys {
			before = before || seen[[2]string{c.Scope, key}]
			seen[[2]string{c.Scope, key}] = true
		}
		if before && waits[i] {
			answers[i] = "IN_PROGRESS"
			continue
		}
		answers[i] = m.claimOne(c, keys, taken)
	}
	return answers
}

func (m *model) claimOne(c store.Claim, keys []string, taken map[[2]string]bool) string {
	none := true
	for _, key := range keys {
		if taken[[2]string{c.Scope, key}] {
			return "IN_PROGRESS"
		}
		none = none && m.find(c.Scope, key) == nil
	}
	if none && c.Old && c.RedriveCount == 0 {
		return "TOO_OLD"
	}
	var verdicts []string
	for _, key := range keys {
		verdicts = append(verdicts, m.verdict(c, key))
	}
	answer := ""
	for _, v := range []string{"KEY_REUSED", "DUPLICATE", "STALE", "IN_PROGRESS", "CRASH_LOOP", "PROCEED", "PROCEED AGAIN"} {
		if slices.Contains(verdicts, v) {
			answer = v
			break
		}
	}
	head := false
	if l := m.lane(c.Scope, c.Lane); c.Lane.Topic != "" && l != nil {
		head = l.head == c.Key
		if answer == "PROCEED" && verdicts[0] != "PROCEED AGAIN" && !head {
			return "PARKED"
		}
	}
	if answer == "DUPLICATE" {
		result := ""
		for i, key := range keys {
			if verdicts[i] == "DUPLICATE" {
				result = m.find(c.Scope, key).result
				break
			}
		}
		for i, key := range keys {
			if verdicts[i] == "DUPLICATE" {
				continue
			}
			r := m.need(c.Scope, key)
			r.state, r.result, r.owner, r.until, r.ended = "SUCCESS", result, "", 0, r.until
			r.fence++
			if r.fingerprint == "" {
				r.fingerprint = c.Fingerprint
			}
		}
		return fmt.Sprintf("DUPLICATE %q head=%v", result, head)
	}
	if answer != "PROCEED" && answer != "PROCEED AGAIN" {
		return fmt.Sprintf("%s head=%v", answer, head)
	}
	attempts, until := int64(1), m.now+c.Lease
	retries, holds := c.RetryCount, c.HoldCount
	for i, key := range keys {
		r := m.find(c.Scope, key)
		if r == nil {
			continue
		}
		if verdicts[i] == "PROCEED AGAIN" { // both end together
			until = min(until, r.until)
			if !slices.Contains(verdicts, "PROCEED") {
				until = r.until
			}
		}
		if r.redrive == int64(c.RedriveCount) {
			retries, holds = max(retries, r.retry), max(holds, r.hold)
			n := r.attempts + 1
			if verdicts[i] == "PROCEED AGAIN" {
				n = r.attempts
			}
			attempts = max(attempts, n)
		}
	}
	for i, key := range keys {
		r := m.need(c.Scope, key)
		taken[[2]string{c.Scope, key}] = true
		if verdicts[i] != "PROCEED AGAIN" {
			r.fence++
		}
		r.until = until
		r.state, r.owner, r.attempts = "PROCESSING", c.Owner, attempts
		r.redrive, r.position, r.retry, r.hold = int64(c.RedriveCount), int64(c.RetryCount)+int64(c.HoldCount), retries, holds
		if r.fingerprint == "" {
			r.fingerprint = c.Fingerprint
		}
	}
	return fmt.Sprintf("PROCEED attempts=%d counts=%d,%d head=%v", attempts, retries, holds, head)
}

// answerOf is a grant in the words of the model.
func answerOf(g store.Grant) string {
	switch k := kind(g); k {
	case "TOO_OLD", "PARKED":
		return k
	case "DUPLICATE":
		return fmt.Sprintf("DUPLICATE %q head=%v", g.Result, g.Head)
	case "PROCEED":
		return fmt.Sprintf("PROCEED attempts=%d counts=%d,%d head=%v", g.Attempts, g.Counts.Retry, g.Counts.Hold, g.Head)
	default:
		return fmt.Sprintf("%s head=%v", k, g.Head)
	}
}

// holds finds the records that a lease may write, none where it is fenced out.
func (m *model) holds(l store.Lease) []*mRecord {
	var held []*mRecord
	for _, k := range []struct {
		key   string
		fence int64
	}{{l.Key, l.Fence}, {l.Previous, l.PreviousFence}} {
		if k.fence == 0 {
			continue
		}
		r := m.find(l.Scope, k.key)
		if r == nil || r.fence != k.fence {
			return nil
		}
		if l.Owner != "" && (r.state != "PROCESSING" || r.owner != l.Owner) {
			return nil
		}
		if l.Owner == "" && r.state != "FAILED" && (r.state != "PROCESSING" || r.until > m.now) {
			return nil
		}
		held = append(held, r)
	}
	return held
}

func (m *model) complete(c store.Completion) bool {
	held := m.holds(c.Lease)
	if len(held) == 0 || c.Lease.Owner == "" {
		return false
	}
	for _, r := range held {
		r.state, r.result, r.until, r.era = "SUCCESS", string(c.Result), 0, m.era
	}
	if c.Head {
		m.leave(c.Lease.Scope, c.Lane, c.Lease.Key)
	}
	return true
}

func (m *model) renew(r store.Renewal) bool {
	held := m.holds(r.Lease)
	if len(held) == 0 || r.Lease.Owner == "" {
		return false
	}
	for _, x := range held {
		x.until = m.now + r.For
	}
	return true
}

func (m *model) settle(x store.Settlement) string {
	var held []*mRecord
	claimed := x.Lease.Fence != 0 || x.Lease.PreviousFence != 0
	if claimed {
		if held = m.holds(x.Lease); len(held) == 0 {
			return "fenced"
		}
	}
	scope, key := x.Lease.Scope, x.Lease.Key
	if scope == "" && x.Retry != nil {
		scope, key = x.Retry.Scope, x.Retry.Key
	} else if scope == "" && x.DeadLetter != nil {
		scope, key = x.DeadLetter.Scope, x.DeadLetter.Key
	}
	ordered := x.Lane.Topic != ""
	l := m.lane(scope, x.Lane)
	if x.Retry != nil && x.Retry.Park && (l == nil || l.head == key) {
		return "unparked"
	}
	for _, r := range held {
		r.state, r.until, r.era = x.State.String(), 0, m.era
		if x.GiveBack {
			r.attempts--
		}
		r.redrive, r.position = int64(x.RedriveCount), int64(x.RetryCount)+int64(x.HoldCount)
		r.retry, r.hold = max(x.RetryCount, x.Kept.Retry), max(x.HoldCount, x.Kept.Hold)
	}
	if x.Retry != nil {
		behind := ordered && !x.Leave && l != nil && l.head != key
		if m.put(*x.Retry, behind, x.Lane) && ordered && !x.Leave && l == nil {
			m.lanes = append(m.lanes, &mLane{scope: scope, Lane: x.Lane, head: key})
		}
	}
	if x.DeadLetter != nil {
		m.die(*x.DeadLetter)
	}
	if ordered && (x.Leave || x.DeadLetter != nil && claimed) {
		m.leave(scope, x.Lane, key)
	}
	return "written"
}

func (m *model) put(r store.Retry, parked bool, l store.Lane) bool {
	var row *mRow
	for _, x := range m.rows {
		if x.Scope == r.Scope && x.Key == r.Key && x.SourceTopic == r.SourceTopic && x.SourcePartition == r.SourcePartition && x.SourceOffset == r.SourceOffset {
			row = x
		}
	}
	if row != nil && (r.RedriveCount < row.RedriveCount || r.RedriveCount == row.RedriveCount && r.RetryCount+r.HoldCount < row.RetryCount+row.HoldCount) {
		return false
	}
	if row == nil {
		m.lastRow++
		row = &mRow{order: m.lastRow}
		m.rows = append(m.rows, row)
	}
	row.Retry, row.at, row.claimed, row.token, row.parked = r, m.now+r.Due, 0, "", parked
	row.Lane = l
	return true
}

func (m *model) die(d store.DeadLetter) {
	for _, x := range m.letters {
		if x.Scope == d.Scope && x.SourceTopic == d.SourceTopic && x.SourcePartition == d.SourcePartition && x.SourceOffset == d.SourceOffset &&
			x.Key == d.Key && bytes.Equal(x.Payload, d.Payload) {
			if x.redriven || d.RedriveCount > x.RedriveCount {
				x.DeadLetter, x.redriven = d, false
			}
			return
		}
	}
	m.lastDie++
	m.letters = append(m.letters, &mLetter{DeadLetter: d, order: m.lastDie})
}

func (m *model) leave(scope string, at store.Lane, key string) {
	l := m.lane(scope, at)
	if l == nil || l.head != key {
		return
	}
	var next *mRow
	for _, row := range m.rows {
		if row.parked && row.Scope == scope && row.Lane == at && (next == nil || row.order < next.order) {
			next = row
		}
	}
	if next == nil {
		m.lanes = slices.DeleteFunc(m.lanes, func(x *mLane) bool { return x == l })
		return
	}
	l.head = next.Key
	for _, row := range m.rows {
		if row.parked && row.Scope == scope && row.Lane == at && row.Key == l.head {
			row.parked, row.at = false, m.now
		}
	}
}

func (m *model) sweep() int {
	n := 0
	for _, l := range slices.Clone(m.lanes) {
		if r := m.find(l.scope, l.head); r != nil && (r.state == "SUCCESS" || r.state == "DEAD") {
			m.leave(l.scope, l.Lane, l.head)
			n++
		}
	}
	return n
}

func (m *model) forget(scope, key string) int {
	r := m.find(scope, key)
	if r == nil {
		return 0
	}
	*r = mRecord{scope: scope, key: key, state: "FAILED", fence: r.fence + 1, era: m.era}
	return 1
}

func (m *model) clean() {
	for _, r := range slices.Clone(m.records) {
		switch {
		case r.era == m.era:
		case r.state == "PROCESSING":
			m.forget(r.scope, r.key)
		default:
			m.records = slices.DeleteFunc(m.records, func(x *mRecord) bool { return x == r })
		}
	}
}

// dueRows claims what is due.
func (m *model) dueRows(token string, lease time.Duration) []*mRow {
	var rows []*mRow
	for _, row := range m.rows {
		if !row.parked && row.at <= m.now && (row.token == "" || row.claimed <= m.now) {
			row.token, row.claimed = token, m.now+lease
			rows = append(rows, row)
		}
	}
	return rows
}

// marked finds the row that a mark means.
func (m *model) marked(k store.Mark, id map[int64]int) *mRow {
	for _, row := range m.rows {
		if row.order == id[k.ID] && row.token != "" && row.token == k.Token && row.RedriveCount == k.RedriveCount && int64(row.RetryCount)+int64(row.HoldCount) == k.Position {
			return row
		}
	}
	return nil
}

func (m *model) wake(scope, bizKey string) int {
	n := 0
	for _, row := range m.rows {
		if row.Scope == scope && row.BizKey == bizKey && row.Action == idem.ActionHold && !row.parked && row.at > m.now {
			row.at = m.now
			n++
		}
	}
	return n
}

func (m *model) next() (time.Duration, bool) {
	least, there := time.Duration(0), false
	for _, row := range m.rows {
		if row.parked {
			continue
		}
		at := row.at
		if row.token != "" {
			at = max(at, row.claimed)
		}
		if !there || at < least {
			least, there = at, true
		}
	}
	return max(least-m.now, 0), there
}

func (m *model) counts() (pending, parked int64) {
	for _, row := range m.rows {
		if row.parked {
			parked++
		} else {
			pending++
		}
	}
	return pending, parked
}
