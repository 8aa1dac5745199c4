package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// auditSheet is counts as rows.
type auditSheet struct {
	by      string
	filter  store.CountFilter
	bars    bool
	several bool // stores
	rows    []*auditRow
}

// auditRow is what counts of one kind add up to.
type auditRow struct {
	store, name string
	n           [auditSums]int64
	stopped     map[string]int64 // by layer
	course      []float64        // what was stopped in each span
}

// The sums of a row.
const (
	done = iota
	duplicates
	stale
	superseded
	keysReused
	retries
	holds
	deferrals
	deadLetters
	auditSums
)

// ofOutcome and ofAction are the sums that a count belongs to.
var (
	ofOutcome = map[string]int{
		idem.OutcomeOK.String(): done, idem.OutcomeDuplicate.String(): duplicates, idem.OutcomeStale.String(): stale,
		store.Superseded: superseded, idem.OutcomeKeyReused.String(): keysReused,
	}
	ofAction = map[string]int{
		idem.ActionRetry.String(): retries, idem.ActionHold.String(): holds, idem.ActionDefer.String(): deferrals,
		idem.ActionDeadLetter.String(): deadLetters,
	}
)

// add adds the counts of a store.
func (s *auditSheet) add(name string, counts []store.Count) {
	of := map[string]*auditRow{}
	for i := range counts {
		key, ok := s.name(&counts[i])
		if !ok {
			continue
		}
		if of[key] == nil {
			of[key] = &auditRow{store: name, name: key, stopped: map[string]int64{}}
			s.rows = append(s.rows, of[key])
		}
		of[key].add(&counts[i], s.span(&counts[i]), s.spans())
	}
	slices.SortStableFunc(s.rows, func(a, b *auditRow) int {
		return cmp.Or(cmp.Compare(a.store, b.store), cmp.Compare(a.name, b.name))
	})
}

// name is the row that a count belongs to; false where it belongs to none.
func (s *auditSheet) name(c *store.Count) (string, bool) {
	switch s.by {
	case byScope:
		return c.Scope, true
	case byLayer:
		return c.Layer, c.Layer != ""
	case byHour:
		return c.Hour.Format(time.RFC3339), true
	}
	return c.EventType, true
}

// spans is how many there are, and span which one a count is of.
func (s *auditSheet) spans() int {
	if !s.bars {
		return 0
	}
	return int(s.filter.Until.Sub(s.filter.Since)/s.filter.By) + 1
}

func (s *auditSheet) span(c *store.Count) int {
	if !s.bars {
		return 0
	}
	return int(c.Hour.Sub(s.filter.Since) / s.filter.By)
}

func (r *auditRow) add(c *store.Count, span, spans int) {
	if r.course == nil {
		r.course = make([]float64, spans)
	}
	if sum, ok := ofAction[c.Action]; ok {
		r.n[sum] += c.N
	}
	sum, ok := ofOutcome[c.Outcome]
	if !ok {
		return
	}
	r.n[sum] += c.N
	switch sum {
	case duplicates, stale, superseded:
		r.stopped[c.Layer] += c.N
		if span < spans {
			r.course[span] += float64(c.N)
		}
	}
}

// plus adds another row.
func (r *auditRow) plus(o *auditRow) {
	for i, n := range o.n {
		r.n[i] += n
	}
	for layer, n := range o.stopped {
		r.stopped[layer] += n
	}
	if r.course == nil {
		r.course = make([]float64, len(o.course))
	}
	for i, v := range o.course {
		r.course[i] += v
	}
}

// all is what was stopped, and saved what of it no handler had to notice.
func (r *auditRow) all() int64   { return r.n[duplicates] + r.n[stale] + r.n[superseded] }
func (r *auditRow) saved() int64 { return r.all() - r.stopped[observe.LayerHandler.String()] }

// table writes the rows, and their sum.
func (s *auditSheet) table(w io.Writer) {
	total := &auditRow{store: "all", name: "all", stopped: map[string]int64{}}
	for _, r := range s.rows {
		total.plus(r)
	}
	var layers []string
	for _, l := range observe.Layers() {
		if total.stopped[l.String()] > 0 {
			layers = append(layers, l.String())
		}
	}
	rows := s.rows
	if len(rows) > 1 {
		rows = append(slices.Clip(rows), total)
	}
	cells := make([][]string, len(rows))
	for i, r := range rows {
		cells[i] = s.cells(r, layers)
	}
	show.Table(w, s.head(layers), cells)
}

func (s *auditSheet) head(layers []string) []string {
	var head []string
	if s.several {
		head = append(head, "STORE")
	}
	if s.by == byLayer {
		head = append(head, "LAYER", "DUPLICATES", "STALE", "SUPERSEDED", "KEYS REUSED")
	} else {
		head = append(head, map[string]string{byType: "EVENT TYPE", byScope: "SCOPE", byHour: "HOUR"}[s.by], "DONE", "STOPPED")
		for _, l := range layers {
			head = append(head, "AT "+strings.ToUpper(l))
		}
		head = append(head, "SAVED", "KEYS REUSED", "RETRIES", "DEAD LETTERS")
	}
	if s.bars {
		head = append(head, "COURSE")
	}
	return head
}

func (s *auditSheet) cells(r *auditRow, layers []string) []string {
	var cells []string
	if s.several {
		cells = append(cells, r.store)
	}
	cells = append(cells, cmp.Or(r.name, "(none)"))
	numbers := []int64{r.n[duplicates], r.n[stale], r.n[superseded], r.n[keysReused]}
	if s.by != byLayer {
		numbers = []int64{r.n[done], r.all()}
		for _, l := range layers {
			numbers = append(numbers, r.stopped[l])
		}
		numbers = append(numbers, r.saved(), r.n[keysReused], r.n[retries], r.n[deadLetters])
	}
	for _, n := range numbers {
		cells = append(cells, fmt.Sprint(n))
	}
	if s.bars {
		cells = append(cells, show.Sparkline(r.course))
	}
	return cells
}

// auditJSON is a row in --output json. Fields are added, and never renamed or removed.
type auditJSON struct {
	Store        string           `json:"store,omitempty"`
	Since        time.Time        `json:"since"`
	Until        time.Time        `json:"until"`
	EventType    *string          `json:"event_type,omitempty"`
	Scope        *string          `json:"scope,omitempty"`
	Layer        *string          `json:"layer,omitempty"`
	Hour         *string          `json:"hour,omitempty"`
	Done         int64            `json:"done"`
	Duplicates   int64            `json:"duplicates"`
	Stale        int64            `json:"stale"`
	Superseded   int64            `json:"superseded"`
	StoppedBy    map[string]int64 `json:"stopped_by"`
	EffectsSaved int64            `json:"effects_saved"`
	KeysReused   int64            `json:"keys_reused"`
	Retries      int64            `json:"retries"`
	Holds        int64            `json:"holds"`
	Deferrals    int64            `json:"deferrals"`
	DeadLetters  int64            `json:"dead_letters"`
}

func (s *auditSheet) json(r *auditRow) auditJSON {
	j := auditJSON{
		Store: r.store, Since: s.filter.Since, Until: s.filter.Until.UTC(), Done: r.n[done], Duplicates: r.n[duplicates],
		Stale: r.n[stale], Superseded: r.n[superseded], StoppedBy: r.stopped, EffectsSaved: r.saved(), KeysReused: r.n[keysReused],
		Retries: r.n[retries], Holds: r.n[holds], Deferrals: r.n[deferrals], DeadLetters: r.n[deadLetters],
	}
	switch s.by {
	case byType:
		j.EventType = &r.name
	case byScope:
		j.Scope = &r.name
	case byLayer:
		j.Layer = &r.name
	case byHour:
		j.Hour = &r.name
	}
	return j
}
