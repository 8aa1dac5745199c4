package idemtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/idemtest"
)

// A case that cannot be checked is said of the line that calls Check. It takes a process of its own, since it fails.
func TestWhatIsWrongWithACaseIsSaidOfTheCallersLine(t *testing.T) {
	t.Parallel()
	c := idemtest.Case{Handlers: []consumer.Handler{consumer.Tx(pay)}, Messages: refunds(t)[:1], Effects: idemtest.Query(`SELECT order_id FROM refund`)}
	switch os.Getenv("IDEMTEST_MISUSE") {
	case "no table":
		c.Store = idemtest.SQLite()
		idemtest.Check(t, c) // no table
		return
	case "no SQL":
		c.Store = idemtest.SQLite("CREATE TABEL refund")
		idemtest.Check(t, c) // no SQL
		return
	}
	source, err := os.ReadFile("misuse_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for misuse, want := range map[string]string{
		"no table": `no such table: refund (1): give it to idemtest.SQLite("CREATE TABLE ...") as the Store`,
		"no SQL":   "idemtest: open the store: CREATE TABEL refund: ",
	} {
		command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		command.Env = append(os.Environ(), "IDEMTEST_MISUSE="+misuse)
		out, err := command.CombinedOutput()
		if err == nil {
			t.Errorf("%s: it passes", misuse)
		}
		line := 1
		for text := range strings.Lines(string(source)) {
			if strings.Contains(text, "Check(t, c) // "+misuse) {
				break
			}
			line++
		}
		if text := string(out); !strings.Contains(text, place(line)) || !strings.Contains(text, want) {
			t.Errorf("%s: want %s and %s:\n%s", misuse, place(line), want, text)
		}
	}
}

func place(line int) string { return fmt.Sprintf("misuse_test.go:%d: ", line) }
