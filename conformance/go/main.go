// Command go is the Go port of the conformance protocol: it answers on standard output what the core
// says to the questions on standard input. It decodes and prints; every rule is the core's.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/idem-spec/idem/runtime/go/idem"
)

const (
	protocol = "idem-conformance/1"
	name     = "idem-go"
	version  = "1.0.0"

	bufferSize = 1 << 16
)

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "idem-go:", err)
		os.Exit(2)
	}
}

// serve answers until end, or the end of the input.
func serve(in io.Reader, out io.Writer) error {
	r := bufio.NewReaderSize(in, bufferSize)
	p := &port{w: bufio.NewWriterSize(out, bufferSize)}
	for {
		line, err := readLine(r)
		if err != nil && (err != io.EOF || len(line) == 0) {
			if err == io.EOF {
				err = nil
			}
			return errors.Join(err, p.w.Flush())
		}
		more, err := p.answer(line)
		if err != nil || !more {
			return errors.Join(err, p.w.Flush())
		}
		if !lineReady(r) {
			if err := p.w.Flush(); err != nil {
				return err
			}
		}
	}
}

// readLine returns the next line without its end. The memory is the reader's until the next call, except
// for lines that are longer than its buffer.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		long := append([]byte(nil), line...)
		for err == bufio.ErrBufferFull {
			line, err = r.ReadSlice('\n')
			long = append(long, line...)
		}
		line = long
	}
	return bytes.TrimSuffix(line, []byte("\n")), err
}

// lineReady says whether a whole line can be read without waiting.
func lineReady(r *bufio.Reader) bool {
	buffered, _ := r.Peek(r.Buffered())
	return bytes.IndexByte(buffered, '\n') >= 0
}

type port struct {
	w    *bufio.Writer
	line []byte // the answer that is being written
}

// answer handles one line, and says whether there may be more.
func (p *port) answer(line []byte) (more bool, err error) {
	message, err := parseJSON(string(line))
	if err != nil {
		return false, err
	}
	o, ok := message.object()
	if !ok {
		return false, errors.New("a line is no JSON object")
	}
	switch kind, _ := o.optionalText("type"); kind {
	case "hello":
		_, err := p.w.WriteString(`{"type":"hello","protocol":"` + protocol + `","name":"` + name + `","version":"` + version + "\"}\n")
		return true, err
	case "end":
		return false, nil
	case "case":
		return true, p.answerCase(&o)
	default:
		return false, fmt.Errorf("a line has the unknown type %q", kind)
	}
}

// answerCase writes the result of one case.
func (p *port) answerCase(o *object) error {
	seq, ok := o.get("seq")
	if !ok || seq.kind != kindNumber {
		return errors.New("a case has no seq")
	}
	op, ok := o.optionalText("op")
	if !ok {
		return errors.New("a case has no op")
	}
	p.line = append(append(p.line[:0], `{"type":"result","seq":`...), seq.text...)
	input, _ := o.get("input")
	if operation, known := operations[op]; known {
		p.result(operation, input)
	} else {
		p.line = append(p.line, `,"unsupported":true`...)
	}
	p.line = append(p.line, "}\n"...)
	_, err := p.w.Write(p.line)
	return err
}

// result appends the output, or the error, of an operation.
func (p *port) result(operation operation, input value) {
	start := len(p.line)
	in, ok := input.object()
	err := errInput
	if ok {
		out := output{line: append(p.line, `,"output":{`...)}
		if err = operation(&in, &out); err == nil {
			p.line = append(out.line, '}')
			return
		}
		p.line = out.line
	}
	p.line = append(p.line[:start], `,"error":`...)
	p.line = appendJSONString(p.line, string(idem.CodeOf(err)))
	p.line = append(p.line, `,"detail":`...)
	p.line = appendJSONString(p.line, err.Error())
}

// errInput is the answer to an input of no known shape.
var errInput error = &idem.Error{Code: idem.CodeInputInvalid, Offset: -1, Detail: "the input has no known shape"}

// operation decodes all of its input before it computes anything, so that a bad shape is found first.
type operation func(in *object, out *output) error

// operations are those of the spec's chapter 12. The others are answered as unsupported.
var operations = map[string]operation{
	"decimal":         opDecimal,
	"money":           opMoney,
	"timestamp":       opTimestamp,
	"duration":        opDuration,
	"date":            opDate,
	"uuid":            opUUID,
	"component":       opComponent,
	"key":             opKey,
	"fingerprint":     opFingerprint,
	"hash":            opHash,
	"shard":           opShard,
	"lane":            opLane,
	"kafka_partition": opKafkaPartition,
	"policy":          opPolicy,
	"backoff":         opBackoff,
	"decide":          opDecide,
	"admit":           opAdmit,
	"transition":      opTransition,
	"headers":         opHeaders,
	"next_headers":    opNextHeaders,
	"classify":        opClassify,
	"message":         opMessage,
}
