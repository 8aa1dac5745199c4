package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/idem-spec/idem/internal/conformance"
)

// testPort is the environment variable that makes this test binary a port which knows the answers.
// Its value is what the port does wrong: "right" nothing, "wrong:GLOB…" the ids with that prefix,
// "exit" its exit code, "bulk:N" answers every case with an error and the case N with another.
const testPort = "IDEM_TEST_PORT"

func TestMain(m *testing.M) {
	if mode := os.Getenv(testPort); mode != "" {
		servePort(mode)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func servePort(mode string) {
	suite, err := conformance.Load(embeddedVectors)
	if err != nil || mode == "broken" {
		fmt.Fprintln(os.Stderr, "cannot start:", err)
		os.Exit(9)
	}
	vectors := map[string]*conformance.Vector{}
	for _, v := range suite.All() {
		vectors[v.Op+string(v.Input)] = v
	}
	in, out := bufio.NewReaderSize(os.Stdin, 1<<20), bufio.NewWriter(os.Stdout)
	for {
		if in.Buffered() == 0 {
			_ = out.Flush()
		}
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var c struct {
			Type, Op string
			Seq      int
			Input    json.RawMessage
		}
		if json.Unmarshal(line, &c) != nil {
			os.Exit(2)
		}
		if c.Type == "hello" {
			fmt.Fprintln(out, `{"type":"hello","protocol":"idem-conformance/1","name":"test","version":"1"}`)
			continue
		}
		v := vectors[c.Op+string(c.Input)]
		bad, isBad := strings.CutPrefix(mode, "wrong:")
		odd, isBulk := strings.CutPrefix(mode, "bulk:")
		switch {
		case c.Type == "end" && mode == "exit":
			os.Exit(3)
		case c.Type == "end":
			return
		case isBulk:
			fmt.Fprintf(out, `{"type":"result","seq":%d,"error":"WRONG_%t"}`+"\n", c.Seq, odd == strconv.Itoa(c.Seq))
		case v == nil:
			fmt.Fprintf(out, `{"type":"result","seq":%d,"unsupported":true}`+"\n", c.Seq)
		case isBad && strings.HasPrefix(v.ID, bad):
			fmt.Fprintf(out, `{"type":"result","seq":%d,"error":"WRONG"}`+"\n", c.Seq)
		case v.Output != nil:
			fmt.Fprintf(out, `{"type":"result","seq":%d,"output":%s}`+"\n", c.Seq, v.Output)
		default:
			fmt.Fprintf(out, `{"type":"result","seq":%d,"error":%q}`+"\n", c.Seq, v.Error)
		}
	}
}

// invoke runs a command line and returns what it writes and its exit code.
func invoke(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, streams{in: strings.NewReader(""), out: &out, err: &errs})
	return out.String(), errs.String(), code
}

// port returns the command of a port in this mode, to be put after --.
func port(t *testing.T, mode string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--", "env", testPort + "=" + mode, "GORACE=atexit_sleep_ms=0", self}
}
