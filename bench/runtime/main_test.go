package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// So that the benchmarks stay alive: each part runs, with next to nothing to do, and compares what it says.
func TestPartsRun(t *testing.T) {
	for _, c := range []struct {
		part        string
		needs       []string
		comparisons int
	}{
		{"pipeline", nil, 2},
		{"claim", []string{"DATABASE_URL"}, 2},
		{"tx", []string{"DATABASE_URL"}, 2},
		{"latency", []string{"DATABASE_URL"}, 4},
		{"kafka", []string{"DATABASE_URL", "KAFKA_BROKERS"}, 2},
		{"growth", []string{"DATABASE_URL"}, 2},
	} {
		t.Run(c.part, func(t *testing.T) {
			for _, name := range c.needs {
				if os.Getenv(name) == "" {
					if os.Getenv("IDEM_TEST_REAL") == "1" {
						t.Fatalf("%s is not set", name)
					}
					t.Skipf(`%s is not set: eval "$(scripts/services env)"`, name)
				}
			}
			var out bytes.Buffer
			if err := run(t.Context(), &out, []string{c.part}, size{rounds: 1, share: 0.01}); err != nil {
				t.Fatal(err)
			}
			var r report
			if err := json.Unmarshal(out.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			if len(r.Comparisons) != c.comparisons {
				t.Errorf("it has %d comparisons, want %d", len(r.Comparisons), c.comparisons)
			}
			for _, made := range r.Comparisons {
				if len(made.Contenders) < 2 {
					t.Errorf("%s: nobody to compare with", made.Title)
				}
				for _, side := range made.Contenders {
					if len(side.Rounds) == 0 || side.Rounds[0] <= 0 {
						t.Errorf("%s, %s: %v", made.Title, side.Name, side.Rounds)
					}
				}
			}
		})
	}
}

func TestAnUnknownPartIsNamed(t *testing.T) {
	if err := run(t.Context(), new(bytes.Buffer), []string{"pipelines"}, quick); err == nil {
		t.Error("it is measured")
	}
}
