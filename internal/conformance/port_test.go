package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idem-spec/idem/internal/conformance/bulk"
)

// The tests' ports are this test binary, started again with portMode set: see modes.
const portMode = "IDEM_TEST_PORT"

func TestMain(m *testing.M) {
	if mode := os.Getenv(portMode); mode != "" {
		name, arg, _ := strings.Cut(mode, ":")
		modes[name](&testPort{in: bufio.NewReaderSize(os.Stdin, 1<<16), out: bufio.NewWriterSize(os.Stdout, 1<<16), arg: arg})
		os.Exit(0)
	}
	code := m.Run()
	if left := goroutinesLeft(); code == 0 && left != "" {
		fmt.Println("goroutines outlive the runs:\n" + left)
		code = 1
	}
	os.Exit(code)
}

// goroutinesLeft returns the stacks of this package's goroutines that do not end.
func goroutinesLeft() string {
	for range 1000 {
		buf := make([]byte, 1<<20)
		stacks := string(buf[:runtime.Stack(buf, true)])
		if !strings.Contains(stacks, "conformance.(*port)") && !strings.Contains(stacks, "conformance.(*writer)") {
			return ""
		}
		time.Sleep(10 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

// testCommand starts this binary as a port.
func testCommand(t testing.TB, mode string) Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Command{Path: self, Env: []string{portMode + "=" + mode, "GORACE=atexit_sleep_ms=0"}}
}

// testPort answers the cases of testSuite: the text of the input, or the code after "!".
type testPort struct {
	in  *bufio.Reader
	out *bufio.Writer
	arg string
}

type testLine struct {
	Type  string `json:"type"`
	Seq   int64  `json:"seq"`
	Op    string `json:"op"`
	Input struct {
		Text string `json:"text"`
	} `json:"input"`
}

const testHello = `{"type":"hello","protocol":"idem-conformance/1","name":"test-port","version":"1.0.0"}`

// read returns the next line, nil at the end.
func (p *testPort) read() *testLine {
	if p.in.Buffered() == 0 {
		p.flush()
	}
	raw, err := p.in.ReadBytes('\n')
	if err != nil {
		return nil
	}
	var line testLine
	if err := json.Unmarshal(raw, &line); err != nil {
		fmt.Fprintln(os.Stderr, "no JSON object:", err)
		p.exit(2)
	}
	return &line
}

func (p *testPort) write(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }
func (p *testPort) flush()                           { _ = p.out.Flush() }
func (p *testPort) exit(code int)                    { p.flush(); os.Exit(code) }

func (p *testPort) hello() {
	if line := p.read(); line == nil || line.Type != "hello" {
		p.exit(2)
	}
	p.write("%s", testHello)
	p.flush()
}

// answerOf is the right answer, from output or error on.
func answerOf(line *testLine) string {
	if code, ok := strings.CutPrefix(line.Input.Text, "!"); ok {
		return fmt.Sprintf(`"error":%q,"detail":"as asked"}`, code)
	}
	return fmt.Sprintf(`"output":{"text":%q}}`, line.Input.Text)
}

func (p *testPort) right(line *testLine) {
	p.write(`{"type":"result","seq":%d,%s`, line.Seq, answerOf(line))
}

// serve says hello and answers each case with answer, until the end.
func (p *testPort) serve(answer func(*testLine)) {
	p.hello()
	p.cases(answer)
}

func (p *testPort) cases(answer func(*testLine)) {
	for line := p.read(); line != nil && line.Type == "case"; line = p.read() {
		answer(line)
	}
	p.flush()
}

// bulk answers the bulk stream of seed 7, with format where the length of the input is even.
func (p *testPort) bulk(format string) {
	other, _ := strconv.ParseUint(p.arg, 10, 64)
	odd := ""
	if other > 0 {
		odd = string(bulk.Make(7, other-1).Input)
	}
	p.hello()
	for {
		if p.in.Buffered() == 0 {
			p.flush()
		}
		raw, err := p.in.ReadString('\n')
		i := strings.Index(raw, `"input":`)
		if err != nil || i < 0 {
			p.flush()
			return
		}
		seq, _, _ := strings.Cut(raw[len(`{"type":"case","seq":`):], ",")
		n, _ := strconv.Atoi(seq)
		length := len(raw) - i
		if odd != "" && strings.Contains(raw, odd) {
			length += 2
		}
		if length%2 == 0 {
			p.write(format, n, length)
		} else {
			p.write(`{"type":"result","seq":%d,"error":"ODD"}`, n)
		}
	}
}

// known answers what it knows, and unsupported to the rest.
func (p *testPort) known(line *testLine) {
	if line.Op != "decimal" && line.Op != "uuid" {
		p.write(`{"type":"result","seq":%d,"unsupported":true}`, line.Seq)
		return
	}
	p.right(line)
}

// at calls fault for the case that the mode's argument names, and answers the others.
func (p *testPort) at(fault func(*testLine)) func(*testLine) {
	return func(line *testLine) {
		if line.Input.Text == p.arg {
			fault(line)
			return
		}
		p.right(line)
	}
}

func hang() { time.Sleep(time.Hour) }

// modes are the ports, good and hostile.
var modes = map[string]func(*testPort){
	"good": func(p *testPort) { p.serve(p.right) },
	"fast": fastPort,
	"spaced": func(p *testPort) {
		p.serve(func(line *testLine) {
			p.write("{ \"seq\" : %d , %s , \"type\" : \"result\" }\r", line.Seq, strings.TrimSuffix(answerOf(line), "}"))
		})
	},
	"slow": func(p *testPort) {
		p.serve(func(line *testLine) { time.Sleep(20 * time.Millisecond); p.right(line) })
	},
	// One case takes longer than others, and all answers of a batch are kept back.
	"noisy": func(p *testPort) {
		p.serve(func(line *testLine) {
			fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 1000), `{"type":"result","seq":1,"output":{}}`)
			p.right(line)
		})
	},
	"unread": func(p *testPort) { // does not read while it writes: 1 KiB each way a case
		p.serve(func(line *testLine) { p.right(line); p.flush() })
	},
	"child-keeps-pipe": func(p *testPort) {
		child := exec.Command("sleep", "3600")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			p.exit(9)
		}
		p.serve(p.right)
	},
	"child-escapes": func(p *testPort) {
		child := exec.Command("setsid", "sleep", "4")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			p.exit(9)
		}
		p.serve(p.right)
	},

	// Ports at the edges of the protocol.
	"strict": func(p *testPort) { p.serve(p.known) },
	"silent-exit": func(p *testPort) {
		os.Stderr, _ = os.Open(os.DevNull)
		p.serve(p.known)
	},
	"no-end": func(p *testPort) {
		p.hello()
		for line := p.read(); ; line = p.read() {
			if line == nil {
				p.exit(1)
			}
			if line.Type != "case" {
				return
			}
			p.known(line)
		}
	},
	"deaf": func(p *testPort) { // does not mind what is no JSON object
		p.hello()
		for {
			if p.in.Buffered() == 0 {
				p.flush()
			}
			raw, err := p.in.ReadBytes('\n')
			var line testLine
			if err != nil || json.Unmarshal(raw, &line) != nil || line.Type != "case" {
				return
			}
			p.right(&line)
		}
	},
	"unknown-hang": func(p *testPort) {
		p.serve(func(line *testLine) {
			if line.Op == "no_such_op" {
				hang()
			}
			p.right(line)
		})
	},

	// Ports of the bulk stream: they answer by the length of the input, "bulk:N" the N-th otherwise.
	"bulk":        func(p *testPort) { p.bulk(`{"type":"result","seq":%d,"output":{"n":"%d"}}`) },
	"bulk-spaced": func(p *testPort) { p.bulk(`{ "output":{"\u006e" : "%[2]d"}, "type":"result","seq":%[1]d }`) },
	"bulk-crash": func(p *testPort) {
		at, _ := strconv.ParseUint(p.arg, 10, 64)
		crash := string(bulk.Make(7, at-1).Input)
		p.hello()
		for {
			if p.in.Buffered() == 0 {
				p.flush()
			}
			raw, err := p.in.ReadBytes('\n')
			if err != nil || strings.Contains(string(raw), crash) {
				os.Exit(3)
			}
			var line testLine
			_ = json.Unmarshal(raw, &line)
			if line.Type != "case" {
				p.exit(0)
			}
			p.write(`{"type":"result","seq":%d,"error":"X"}`, line.Seq)
		}
	},

	// Ports that cannot be run.
	"true":           func(p *testPort) {},
	"echo":           func(p *testPort) { _, _ = io.Copy(os.Stdout, p.in) },
	"stderr-only":    func(p *testPort) { fmt.Fprintln(os.Stderr, testHello) },
	"hang-at-hello":  func(p *testPort) { hang() },
	"crash-at-start": func(p *testPort) { fmt.Fprintln(os.Stderr, "no such jar"); p.exit(127) },
	"half-hello":     func(p *testPort) { p.read(); p.out.WriteString(testHello[:20]); p.flush() },
	"other-protocol": func(p *testPort) {
		p.read()
		p.write("%s", strings.Replace(testHello, "/1", "/2", 1))
		p.flush()
		p.read()
	},
	"hello-with-bom": func(p *testPort) { p.read(); p.write("\xef\xbb\xbf%s", testHello); p.flush(); p.read() },
	"banner":         func(p *testPort) { p.write("Welcome!"); p.serve(p.right) },
	"hello-too-long": func(p *testPort) { p.write("%s", strings.Repeat("x", 10<<20)); p.serve(p.right) },
	"endless-line": func(p *testPort) {
		for {
			p.out.WriteString("xxxxxxxx")
		}
	},
	"hello-not-utf8": func(p *testPort) {
		p.read()
		p.write(`{"type":"hello","protocol":"idem-conformance/1","name":"%s","version":"1"}`, "\xff")
		p.flush()
		p.read()
	},
	"hello-no-name": func(p *testPort) {
		p.read()
		p.write(`{"type":"hello","protocol":"idem-conformance/1"}`)
		p.flush()
		p.read()
	},
	"hello-two-names": func(p *testPort) {
		p.read()
		p.write(`%s`, strings.Replace(testHello, `"version"`, `"name"`, 1))
		p.flush()
		p.read()
	},

	// Ports that fail one case.
	"crash": func(p *testPort) {
		p.serve(p.at(func(*testLine) { fmt.Fprintln(os.Stderr, "panic: boom"); os.Exit(7) }))
	},
	"kill": func(p *testPort) {
		p.serve(p.at(func(*testLine) { self, _ := os.FindProcess(os.Getpid()); _ = self.Kill(); hang() }))
	},
	"hang":      func(p *testPort) { p.serve(p.at(func(*testLine) { hang() })) },
	"close":     func(p *testPort) { p.serve(p.at(func(*testLine) { p.flush(); _ = os.Stdout.Close(); hang() })) },
	"half-line": func(p *testPort) { p.serve(p.at(func(l *testLine) { p.out.WriteString(`{"type":"res`); p.exit(0) })) },
	"long-line": func(p *testPort) {
		p.serve(p.at(func(l *testLine) {
			p.write(`{"type":"result","seq":%d,"output":{"text":"%s"}}`, l.Seq, strings.Repeat("x", 10<<20))
		}))
	},
	"not-utf8": func(p *testPort) {
		p.serve(p.at(func(l *testLine) { p.write(`{"type":"result","seq":%d,"output":{"text":"%s"}}`, l.Seq, "\xff") }))
	},
	"both": func(p *testPort) {
		p.serve(p.at(func(l *testLine) {
			p.write(`{"type":"result","seq":%d,"output":{"text":%q},"error":"X"}`, l.Seq, l.Input.Text)
		}))
	},
	"neither": func(p *testPort) { p.serve(p.at(func(l *testLine) { p.write(`{"type":"result","seq":%d}`, l.Seq) })) },
	"two-output": func(p *testPort) {
		p.serve(p.at(func(l *testLine) {
			p.write(`{"type":"result","seq":%d,"output":{"text":"x"},"output":{"text":%q}}`, l.Seq, l.Input.Text)
		}))
	},
	"extra": func(p *testPort) {
		p.serve(p.at(func(l *testLine) {
			p.write(`{"type":"result","seq":%d,"output":{"text":%q},"extra":1}`, l.Seq, l.Input.Text)
		}))
	},
	"two-text": func(p *testPort) {
		p.serve(p.at(func(l *testLine) {
			p.write(`{"type":"result","seq":%d,"output":{"text":"x","text":%q}}`, l.Seq, l.Input.Text)
		}))
	},
	"more-text": func(p *testPort) {
		p.serve(p.at(func(l *testLine) {
			p.write(`{"type":"result","seq":%d,"output":{"text":%q,"more":"1"}}`, l.Seq, l.Input.Text)
		}))
	},
	"half-pair": func(p *testPort) {
		p.serve(p.at(func(l *testLine) { p.write(`{"type":"result","seq":%d,"output":{"text":"\ud800"}}`, l.Seq) }))
	},
	"as-number": func(p *testPort) {
		p.serve(p.at(func(l *testLine) { p.write(`{"type":"result","seq":%d,"output":{"text":%s}}`, l.Seq, l.Input.Text) }))
	},
	"echo-case": func(p *testPort) {
		p.serve(p.at(func(l *testLine) { p.write(`{"type":"case","seq":%d,"output":{"text":%q}}`, l.Seq, l.Input.Text) }))
	},
	"seq-text": func(p *testPort) {
		p.serve(p.at(func(l *testLine) { p.write(`{"type":"result","seq":"%d","output":{"text":%q}}`, l.Seq, l.Input.Text) }))
	},
	"wrong-seq":  func(p *testPort) { p.serve(p.at(func(l *testLine) { l.Seq += 3; p.right(l) })) },
	"blank-line": func(p *testPort) { p.serve(p.at(func(l *testLine) { p.write(""); p.right(l) })) },
	"chatty":     func(p *testPort) { p.serve(p.at(func(l *testLine) { p.write("debug: %v", l.Input); p.right(l) })) },
	"twice":      func(p *testPort) { p.serve(p.at(func(l *testLine) { p.right(l); p.right(l) })) },
	"wrong": func(p *testPort) {
		p.serve(p.at(func(l *testLine) { p.write(`{"type":"result","seq":%d,"output":{"text":"wrong"}}`, l.Seq) }))
	},
	"refuse": func(p *testPort) {
		p.serve(p.at(func(l *testLine) {
			p.write(`{"type":"result","seq":%d,"error":"DECIMAL_SYNTAX","detail":"why"}`, l.Seq)
		}))
	},
	"partial": func(p *testPort) {
		p.serve(p.at(func(l *testLine) { p.write(`{"type":"result","seq":%d,"unsupported":true}`, l.Seq) }))
	},
	"close-stdin": func(p *testPort) {
		p.serve(p.at(func(*testLine) { p.flush(); _ = os.Stdin.Close(); hang() }))
	},

	// Ports that are wrong throughout.
	"wrong-all": func(p *testPort) {
		p.serve(func(l *testLine) { p.write(`{"type":"result","seq":%d,"error":"WRONG"}`, l.Seq) })
	},
	"unsupported": func(p *testPort) {
		p.serve(func(l *testLine) { p.write(`{"type":"result","seq":%d,"unsupported":true}`, l.Seq) })
	},
	"no-flush": func(p *testPort) { // keeps its answers until the end
		p.hello()
		for {
			raw, err := p.in.ReadBytes('\n')
			var line testLine
			if err != nil || json.Unmarshal(raw, &line) != nil || line.Type != "case" {
				p.exit(0)
			}
			p.right(&line)
		}
	},
	"crash-always": func(p *testPort) { p.serve(func(*testLine) { os.Exit(7) }) },
	"once": func(p *testPort) { // runs once, and not again
		if _, err := os.Stat(p.arg); err == nil {
			p.exit(5)
		}
		_ = os.WriteFile(p.arg, nil, 0o600)
		p.serve(func(l *testLine) {
			if l.Input.Text == "5" {
				p.exit(5)
			}
			p.right(l)
		})
	},
	"reverse": func(p *testPort) { // answers what it has at hand in the wrong order
		p.hello()
		for {
			var lines []*testLine
			for line := p.read(); ; line = p.read() {
				if line == nil || line.Type != "case" {
					return
				}
				lines = append(lines, line)
				if p.in.Buffered() == 0 {
					break
				}
			}
			for i := len(lines) - 1; i >= 0; i-- {
				p.right(lines[i])
			}
			p.flush()
		}
	},
	"one-at-a-time": func(p *testPort) { // throws away what it did not expect to have been sent yet
		p.hello()
		for line := p.read(); line != nil && line.Type == "case"; line = p.read() {
			_, _ = p.in.Discard(p.in.Buffered())
			p.right(line)
			p.flush()
		}
	},
	"flood": func(p *testPort) {
		p.hello()
		for seq := 1; ; seq++ {
			p.write(`{"type":"result","seq":%d,"output":{"text":"%d"}}`, seq, seq)
		}
	},

	// Ports that do not end well.
	"exit-3":         func(p *testPort) { p.serve(p.right); fmt.Fprintln(os.Stderr, "leaving"); p.exit(3) },
	"no-exit":        func(p *testPort) { p.serve(p.right); hang() },
	"close-no-exit":  func(p *testPort) { p.serve(p.right); _ = os.Stdout.Close(); hang() },
	"answers-at-end": func(p *testPort) { p.serve(p.right); p.write(`{"type":"result","seq":1,"output":{}}`); p.flush() },
	"last-twice": func(p *testPort) {
		var last *testLine
		p.serve(func(l *testLine) { last = l; p.right(l) })
		p.right(last)
		p.flush()
	},
	"half-line-at-end": func(p *testPort) { p.serve(p.right); p.out.WriteString("bye"); p.flush() },
}

// fastPort answers without a JSON library, to measure the runner.
func fastPort(p *testPort) {
	p.hello()
	var out []byte
	for {
		if p.in.Buffered() == 0 {
			p.flush()
		}
		line, err := p.in.ReadSlice('\n')
		if err != nil || len(line) < 20 || line[9] != 'c' {
			p.flush()
			return
		}
		line = line[len(`{"type":"case","seq":`):]
		seq, _, _ := strings.Cut(string(line[:20]), ",")
		text := line[strings.Index(string(line), `"text":"`)+8:]
		text = text[:strings.IndexByte(string(text), '"')]
		out = append(out[:0], `{"type":"result","seq":`...)
		out = append(out, seq...)
		if text[0] == '!' {
			out = append(out, `,"error":`...)
			out = strconv.AppendQuote(out, string(text[1:]))
		} else {
			out = append(out, `,"output":{"text":"`...)
			out = append(out, text...)
			out = append(out, `"}`...)
		}
		out = append(out, "}\n"...)
		_, _ = p.out.Write(out)
	}
}
