package changes_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/conformance"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// The proof is worked out by the Go core. This asks the ports of the other languages the same questions,
// of each edit before and after, so that what is equal there is equal everywhere.
func TestPortsComputeTheSameOutputsBeforeAndAfterEachEdit(t *testing.T) {
	t.Parallel()
	files := shop(t)
	before, err := compile(t, files)
	require.NoError(t, err)
	var asked questions
	asked.of(worldOf(before), worldOf(before))
	for _, e := range edits {
		edited, ok := e.applied(files)
		require.True(t, ok)
		after, err := compile(t, edited)
		require.NoError(t, err)
		asked.of(worldOf(before), worldOf(after))
	}
	suite := asked.suite(t)
	t.Logf("%d questions", len(suite.All()))
	for _, language := range []string{"go", "java", "python"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			report, err := conformance.Run(t.Context(), suite, port(t, language), conformance.Options{Limits: conformance.Limits{Case: time.Minute}})
			if notRun := (*conformance.NotRunError)(nil); errors.As(err, &notRun) && os.Getenv("IDEM_TEST_REAL") != "1" {
				t.Skipf("the %s port cannot be run: %v", language, err)
			}
			require.NoError(t, err)
			for _, r := range report.Results {
				if !assert.Equal(t, conformance.Passed, r.Status, "%s: %s", r.Vector.Op, r.Vector.Input) {
					break
				}
			}
			assert.Empty(t, report.Findings)
		})
	}
}

// port is the command of a port. A port builds itself on first use; what that takes is not installed here,
// but where tests are asked to skip nothing.
func port(t *testing.T, language string) conformance.Command {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	tools := filepath.Join(root, ".tools", "bin")
	path := tools + string(os.PathListSeparator) + os.Getenv("PATH")
	needs := map[string][]string{"go": {"go"}, "java": {"java", "javac"}, "python": {filepath.Join(tools, "python")}}[language]
	if language == "java" {
		if built, _ := filepath.Glob(filepath.Join(root, "conformance", "java", "target", "messages-*")); len(built) == 0 {
			needs = append(needs, filepath.Join(tools, "buf"))
		}
	}
	for _, program := range needs {
		if _, err := exec.LookPath(program); err != nil && os.Getenv("IDEM_TEST_REAL") != "1" {
			t.Skipf("the %s port needs %s, which is not here: `make tools` installs it", language, program)
		}
	}
	return conformance.Command{Path: filepath.Join(root, "conformance", language, "port"), Env: []string{"PATH=" + path}}
}

// questions are vectors whose answers the Go core has given.
type questions struct {
	groups map[string][]question
	seen   map[string]bool
}

type question struct {
	ID     string   `json:"id"`
	Op     string   `json:"op"`
	Spec   []string `json:"spec"`
	Input  any      `json:"input"`
	Result string   `json:"result"`
	Output any      `json:"output,omitempty"`
	Error  string   `json:"error,omitempty"`
}

func (q *questions) ask(op string, input map[string]any, output map[string]any, err error) {
	text, _ := json.Marshal(input)
	if q.groups == nil {
		q.groups, q.seen = make(map[string][]question), make(map[string]bool)
	}
	if q.seen[op+string(text)] {
		return
	}
	q.seen[op+string(text)] = true
	asked := question{ID: fmt.Sprintf("%s-%d", op, len(q.groups[op])), Op: op, Spec: []string{"KEY-010"}, Input: input, Result: "valid", Output: output}
	if err != nil {
		asked.Result, asked.Output, asked.Error = "invalid", nil, string(idem.CodeOf(err))
	}
	q.groups[op] = append(q.groups[op], asked)
}

// suite makes vectors of the questions.
func (q *questions) suite(t *testing.T) *conformance.Suite {
	t.Helper()
	files := fstest.MapFS{}
	var groups []map[string]any
	for op, asked := range q.groups {
		data, err := json.Marshal(asked)
		require.NoError(t, err)
		sum := sha256.Sum256(data)
		files[op+".json"] = &fstest.MapFile{Data: data}
		groups = append(groups, map[string]any{
			"group": op, "file": op + ".json", "count": len(asked), "sha256": hex.EncodeToString(sum[:]), "required": true,
		})
	}
	manifest, err := json.Marshal(map[string]any{"spec": "1.0.0", "groups": groups})
	require.NoError(t, err)
	files[conformance.ManifestFile] = &fstest.MapFile{Data: manifest}
	suite, err := conformance.Load(files)
	require.NoError(t, err)
	return suite
}

// of asks what both schemas make of the same messages.
func (q *questions) of(before, after *world) {
	for _, f := range before.set.Files {
		for _, m := range f.Messages {
			if now := after.message(m); now != nil {
				q.message(m, now)
			}
		}
	}
	for _, w := range []*world{before, after} {
		for _, f := range w.set.Files {
			for _, e := range f.Enums {
				q.machine(e)
			}
		}
	}
}

// asks is how many messages of a type are asked.
const asks = 25

func (q *questions) message(before, after *schema.Message) {
	random := rand.New(rand.NewPCG(3, uint64(len(before.EventType))))
	for range asks {
		payload, err := proto.Marshal(randomMessage(before, random))
		if err != nil {
			continue
		}
		for _, m := range []*schema.Message{before, after} {
			if message := read(m, payload); message != nil {
				q.texts(m, message)
			}
		}
	}
	for _, m := range []*schema.Message{before, after} {
		q.backoff(m.EventType+":v1:order-17", policyOf(m))
	}
}

func (q *questions) texts(m *schema.Message, message protoreflect.Message) {
	for _, of := range []templateOf{keyOf, previousOf, bizKeyOf, fingerprintOf} {
		t := of(m)
		if t == nil {
			continue
		}
		text, err := rendered(m, of, message)
		input := map[string]any{"segments": segments(t, message)}
		switch t {
		case m.Fingerprint:
			input["template"] = t.Text
			q.ask("fingerprint", input, map[string]any{"fingerprint": text}, err)
		case m.BizKey:
			if text == "" {
				continue // an empty one has no operation of its own
			}
			q.ask("key", input, map[string]any{"key": text}, err)
			partition, err := idem.KafkaPartition(text, 12)
			q.ask("kafka_partition", map[string]any{"key": text, "n": "12"}, map[string]any{"partition": strconv.Itoa(int(partition))}, err)
		default:
			q.ask("key", input, map[string]any{"key": text}, err)
		}
	}
}

func (q *questions) backoff(key string, p idem.Policy) {
	policy := map[string]any{
		"backoff_base": strconv.Itoa(int(p.BackoffBase)), "backoff_max": strconv.Itoa(int(p.BackoffMax)), "backoff_jitter": strconv.Itoa(int(p.BackoffJitter)),
	}
	if len(p.BackoffSchedule) > 0 {
		var schedule []string
		for _, ms := range p.BackoffSchedule {
			schedule = append(schedule, strconv.Itoa(int(ms)))
		}
		policy["backoff_schedule"] = schedule
	}
	for n := range int32(12) {
		d, err := idem.Backoff(key, n, &p, 0)
		ms := func(v int64) string { return strconv.FormatInt(v, 10) }
		q.ask("backoff", map[string]any{"key": key, "retry_count": strconv.Itoa(int(n)), "policy": policy},
			map[string]any{"delay_ms": ms(d.Ms()), "base_ms": ms(d.BaseMs), "jitter_ms": ms(d.JitterMs)}, err)
	}
}

// machine asks each edge in each state. What schema.Verdicts says of a message is what generated code
// says, and has to be what the machine says.
func (q *questions) machine(e *schema.Enum) {
	if e.Machine == nil {
		return
	}
	var edges []map[string]string
	for _, edge := range e.Machine.Edges {
		edges = append(edges, map[string]string{"from": edge.From, "to": edge.To})
	}
	machine := machineOf(e.Machine)
	for _, edge := range e.Machine.Edges {
		for _, s := range append([]schema.State{{}}, e.Machine.States...) {
			verdict, err := machine.Verdict(s.Text, edge.From, edge.To)
			q.ask("transition", map[string]any{"transitions": edges, "current": s.Text, "from": edge.From, "to": edge.To},
				map[string]any{"verdict": verdict.String()}, err)
		}
	}
}

// segments are a template and a message's values as the operation key has them.
func segments(t *schema.Template, m protoreflect.Message) []any {
	var all []any
	for _, s := range t.Segments {
		if s.Component == nil {
			all = append(all, map[string]any{"literal": s.Literal})
			continue
		}
		all = append(all, map[string]any{"component": componentInput(s.Component, m)})
	}
	return all
}

// componentInput is a component of the shop's schema and of its edits, by the spec's text and not by the
// code that renders it.
func componentInput(c *schema.Component, m protoreflect.Message) map[string]any {
	for _, d := range c.Path[:len(c.Path)-1] {
		if !m.Has(d) {
			return missing(c)
		}
		m = m.Get(d).Message()
	}
	leaf := c.Leaf()
	if !m.Has(leaf) && (c.HasPresence || !c.AllowMissing) {
		return missing(c)
	}
	input := valueInput(c, m.Get(leaf))
	if c.Digest {
		return map[string]any{"sha256": input}
	}
	return input
}

func missing(c *schema.Component) map[string]any {
	if c.AllowMissing {
		return map[string]any{"absent": true}
	}
	return map[string]any{"missing": true}
}

func valueInput(c *schema.Component, v protoreflect.Value) map[string]any {
	part := func(name protoreflect.Name) string {
		return v.Message().Get(v.Message().Descriptor().Fields().ByName(name)).String()
	}
	switch c.Kind {
	case schema.String:
		return map[string]any{"string": v.String()}
	case schema.Bytes:
		return map[string]any{"bytes": hex.EncodeToString(v.Bytes())}
	case schema.Enum32:
		return map[string]any{"enum": strconv.Itoa(int(v.Enum()))}
	case schema.Int:
		return map[string]any{"int": map[string]any{"type": c.Leaf().Kind().String(), "value": v.String()}}
	case schema.UUID:
		return map[string]any{"uuid": map[string]any{"text": v.String()}}
	case schema.DecimalText:
		input := map[string]any{"text": v.String()}
		if c.MaxScale >= 0 {
			input["max_scale"] = strconv.Itoa(c.MaxScale)
		}
		return map[string]any{"decimal": input}
	case schema.Money:
		return map[string]any{"money": map[string]any{"currency_code": part("currency_code"), "units": part("units"), "nanos": part("nanos")}}
	case schema.Timestamp:
		return map[string]any{"timestamp": map[string]any{"seconds": part("seconds"), "nanos": part("nanos"), "fraction_digits": strconv.Itoa(c.Digits)}}
	}
	panic("no edit makes a component a " + c.Kind.String())
}
