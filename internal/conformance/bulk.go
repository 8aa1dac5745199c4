package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idem-spec/idem/internal/conformance/bulk"
)

// BulkFile is the name of the published digests.
const BulkFile = "bulk.json"

// BulkBlock is how many cases have a digest of their own.
const BulkBlock = 10_000

// BulkDigests are the digests of CONF-060, as bulk.json has them.
type BulkDigests struct {
	Seed  uint64 `json:"seed"`
	Count int    `json:"count"`
	// Cases is the SHA-256 over the lines of the cases, as PrintBulk writes them. It tells another
	// generator from another answer.
	Cases  string   `json:"cases"`
	Digest string   `json:"digest"`
	Blocks []string `json:"blocks"`
}

// ParseBulkDigests reads bulk.json.
func ParseBulkDigests(data []byte) (*BulkDigests, error) {
	if err := checkMembers(data, []string{"seed", "count", "cases", "digest", "blocks"}); err != nil {
		return nil, err
	}
	var d BulkDigests
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	if d.Count < 1 || len(d.Blocks) != (d.Count+BulkBlock-1)/BulkBlock {
		return nil, fmt.Errorf("%d cases have not %d blocks of %d", d.Count, len(d.Blocks), BulkBlock)
	}
	return &d, nil
}

// BulkMismatch is a block whose digest is not the published one.
type BulkMismatch struct {
	// Block counts from 1; its cases are First to Last.
	Block, First, Last int
}

// Compare returns how many cases were compared with the published ones, which is those of the blocks
// that both have whole, and the blocks that differ. It is an error to compare streams that are not
// the same.
func (d *BulkDigests) Compare(published *BulkDigests) (compared int, differ []BulkMismatch, err error) {
	if d.Seed != published.Seed {
		return 0, nil, fmt.Errorf("the digests published are those of seed %d, not %d", published.Seed, d.Seed)
	}
	if d.Count == published.Count && d.Cases != published.Cases {
		return 0, nil, errors.New("this program makes other cases than those whose digests are published")
	}
	for i := range d.Blocks {
		first, last := i*BulkBlock+1, min((i+1)*BulkBlock, d.Count)
		if i >= len(published.Blocks) || last != min((i+1)*BulkBlock, published.Count) {
			break
		}
		compared = last
		if d.Blocks[i] != published.Blocks[i] {
			differ = append(differ, BulkMismatch{i + 1, first, last})
		}
	}
	return compared, differ, nil
}

// BulkOptions say which stream to ask.
type BulkOptions struct {
	Seed     uint64
	Count    int
	Limits   Limits
	Progress func(done, all int)
}

// BulkOp counts the answers to an operation.
type BulkOp struct {
	Cases  int            `json:"cases"`
	Valid  int            `json:"valid"`
	Errors map[string]int `json:"errors"`
}

// BulkFault is a case that has no answer.
type BulkFault struct {
	Seq   int
	Op    string
	Input string
	Fault
}

// BulkResult is what a port made of the stream.
type BulkResult struct {
	BulkDigests
	Port Hello
	Ops  map[string]*BulkOp
	// Faults are the first cases without an answer, FaultCount is how many there are.
	Faults     []BulkFault
	FaultCount int
	// Unsupported counts, by operation, the cases that the port does not know.
	Unsupported map[string]int
	Findings    []Finding
	Took        time.Duration

	// lines has eight bytes of each answer's digest, where two ports are compared.
	lines []uint64
}

// Sound reports whether every case had an answer and the port behaved.
func (r *BulkResult) Sound() bool {
	return r.FaultCount == 0 && len(r.Unsupported) == 0 && len(r.Findings) == 0
}

// RunBulk asks a port the stream. The errors are those of Run.
func RunBulk(ctx context.Context, command Command, opts BulkOptions) (*BulkResult, error) {
	results, err := runBulk(ctx, []Command{command}, opts)
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// BulkDifference is the first case that two ports answer differently.
type BulkDifference struct {
	Seq   int             `json:"seq"`
	Op    string          `json:"op"`
	Input json.RawMessage `json:"input"`
	// Answers are the two answers, asked again one at a time.
	Answers [2]string `json:"answers"`
	// Total is how many cases differ.
	Total int `json:"total"`
}

// CompareBulk asks two ports the stream side by side. The difference is nil where there is none.
func CompareBulk(ctx context.Context, a, b Command, opts BulkOptions) ([]*BulkResult, *BulkDifference, error) {
	results, err := runBulk(ctx, []Command{a, b}, opts)
	if err != nil {
		return nil, nil, err
	}
	var diff *BulkDifference
	for i := range results[0].lines {
		if results[0].lines[i] == results[1].lines[i] {
			continue
		}
		if diff == nil {
			c := bulk.Make(opts.Seed, uint64(i))
			diff = &BulkDifference{Seq: i + 1, Op: c.Op, Input: c.Input}
		}
		diff.Total++
	}
	if diff == nil {
		return results, nil, nil
	}
	for i, command := range []Command{a, b} {
		if diff.Answers[i], err = askOne(ctx, command, opts.Limits, diff); err != nil {
			return nil, nil, err
		}
	}
	return results, diff, nil
}

// runBulk asks each port the whole stream, all of them at once.
func runBulk(ctx context.Context, commands []Command, opts BulkOptions) ([]*BulkResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		began   = time.Now()
		streams = make([]*stream, len(commands))
		errs    = make([]error, len(commands))
		done    atomic.Int64
		running sync.WaitGroup
	)
	for i, command := range commands {
		s := newStream(opts, &done, len(commands) > 1)
		s.conversation = conversation{command: command, limits: opts.Limits, next: s.next, sink: s}
		streams[i] = s
		running.Go(func() {
			if errs[i] = s.conversation.run(ctx); errs[i] != nil {
				cancel()
			}
			s.result.Took = time.Since(began)
		})
	}
	finished := make(chan struct{})
	go func() { running.Wait(); close(finished) }()
	watch(finished, opts.Progress, func() (int, int) { return int(done.Load()), opts.Count * len(commands) })

	for _, err := range errs {
		if e := (*NotRunError)(nil); errors.As(err, &e) {
			return nil, err
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, context.Cause(ctx)
	}
	results := make([]*BulkResult, len(streams))
	for i, s := range streams {
		s.result.Port = s.conversation.hello
		s.finish()
		results[i] = &s.result
	}
	return results, nil
}

// stream makes the cases and digests the answers.
type stream struct {
	conversation conversation
	result       BulkResult
	ops          []string // of the cases made so far
	cases        hash.Hash
	all          hash.Hash
	block        hash.Hash
	line         []byte
	done         *atomic.Int64
}

func newStream(opts BulkOptions, done *atomic.Int64, compared bool) *stream {
	s := &stream{cases: sha256.New(), all: sha256.New(), block: sha256.New(), done: done}
	s.result.Seed, s.result.Count = opts.Seed, opts.Count
	s.result.Ops, s.result.Unsupported = map[string]*BulkOp{}, map[string]int{}
	if compared {
		s.result.lines = make([]uint64, opts.Count)
	}
	for _, op := range bulk.Ops() {
		s.result.Ops[op] = &BulkOp{Errors: map[string]int{}}
	}
	return s
}

func (s *stream) next() []byte {
	i := len(s.ops)
	if i == s.result.Count {
		return nil
	}
	c := bulk.Make(s.result.Seed, uint64(i))
	s.ops = append(s.ops, c.Op)
	tail := appendTail(make([]byte, 0, len(c.Input)+32), c.Op, c.Input)
	s.line = appendCase(s.line[:0], i+1, tail)
	s.cases.Write(s.line)
	return tail
}

// appendCase appends the line of a case.
func appendCase(dst []byte, seq int, tail []byte) []byte {
	dst = append(dst, `{"type":"case","seq":`...)
	dst = strconv.AppendInt(dst, int64(seq), 10)
	return append(dst, tail...)
}

func (s *stream) answered(i int, a *answer) {
	s.done.Add(1)
	op := s.result.Ops[s.ops[i]]
	op.Cases++
	s.line = strconv.AppendInt(s.line[:0], int64(i)+1, 10)
	s.line = append(append(append(s.line, ' '), s.ops[i]...), ' ')
	switch {
	case a.unsupported:
		s.result.Unsupported[s.ops[i]]++
		s.line = append(s.line, "unsupported"...)
	case a.output == nil:
		op.Errors[a.code]++
		s.line = append(append(s.line, "error "...), a.code...)
	default:
		v, err := parseJSON(a.output)
		if err != nil {
			s.fault(i, &Fault{Kind: WrongLine, Text: err.Error() + ": " + quoteLine(a.output)})
			return
		}
		op.Valid++
		s.line = v.appendCanonical(append(s.line, "ok "...))
	}
	s.digest(i)
}

func (s *stream) failed(i int, f *Fault) {
	s.done.Add(1)
	s.fault(i, f)
}

// fault digests a case without an answer as one that nobody else has.
func (s *stream) fault(i int, f *Fault) {
	s.result.FaultCount++
	if len(s.result.Faults) < 10 {
		c := bulk.Make(s.result.Seed, uint64(i))
		s.result.Faults = append(s.result.Faults, BulkFault{i + 1, c.Op, string(c.Input), *f})
	}
	if !f.twice {
		s.line = fmt.Appendf(s.line[:0], "%d %s fault", i+1, s.ops[i])
		s.digest(i)
	}
}

func (s *stream) found(f Finding) { s.result.Findings = append(s.result.Findings, f) }

func (s *stream) digest(i int) {
	s.line = append(s.line, '\n')
	s.all.Write(s.line)
	s.block.Write(s.line)
	if (i+1)%BulkBlock == 0 {
		s.endBlock()
	}
	if s.result.lines != nil {
		sum := sha256.Sum256(s.line)
		s.result.lines[i] = binary.BigEndian.Uint64(sum[:])
	}
}

func (s *stream) endBlock() {
	s.result.Blocks = append(s.result.Blocks, hex.EncodeToString(s.block.Sum(nil)))
	s.block.Reset()
}

func (s *stream) finish() {
	if s.result.Count%BulkBlock > 0 {
		s.endBlock()
	}
	s.result.Cases = hex.EncodeToString(s.cases.Sum(nil))
	s.result.Digest = hex.EncodeToString(s.all.Sum(nil))
}

// askOne asks a port one case and returns its answer as text.
func askOne(ctx context.Context, command Command, limits Limits, d *BulkDifference) (string, error) {
	one := &single{tail: appendTail(nil, d.Op, d.Input)}
	c := conversation{command: command, limits: limits, next: one.next, sink: one}
	if err := c.run(ctx); err != nil {
		return "", err
	}
	return one.text, nil
}

// single is a source of one case, and a sink of its answer.
type single struct {
	tail []byte
	text string
}

func (s *single) next() []byte {
	tail := s.tail
	s.tail = nil
	return tail
}

func (s *single) answered(_ int, a *answer) {
	switch {
	case a.unsupported:
		s.text = "unsupported"
	case a.output == nil:
		s.text = a.code
		if a.detail != "" {
			s.text += " (" + a.detail + ")"
		}
	default:
		s.text = string(a.output)
	}
}

func (s *single) failed(_ int, f *Fault) { s.text = f.Error() }
func (s *single) found(Finding)          {}

// PrintBulk writes the cases of a stream, a line each as a runner sends them, with write.
func PrintBulk(seed uint64, count int, write func([]byte) error) error {
	var line []byte
	for i := range count {
		c := bulk.Make(seed, uint64(i))
		line = appendCase(line[:0], i+1, appendTail(nil, c.Op, c.Input))
		if err := write(line); err != nil {
			return err
		}
	}
	return nil
}

// BulkOps returns the operations of the stream in their order.
func BulkOps() []string { return slices.Clone(bulk.Ops()) }
