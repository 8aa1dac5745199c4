package doctor

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
)

// expected are the statuses that tests have asked for, by check.
var expected sync.Map

// TestMain asks, where all tests were run on all servers, that each check was seen to find something and to be content.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, name := range []string{"DATABASE_URL", "REDIS_URL", "KAFKA_BROKERS"} {
		if os.Getenv(name) == "" {
			os.Exit(code)
		}
	}
	if code != 0 || flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.list").Value.String() != "" || flag.Lookup("test.skip").Value.String() != "" {
		os.Exit(code)
	}
	for _, c := range Checks() {
		if c == &producerChecks[0].Check || c == &reach || c == &missing.Check {
			continue // they say one thing only
		}
		found, content := false, false
		for s := OK; s <= Error; s++ {
			_, asked := expected.Load(fmt.Sprint(c.ID, s))
			found = found || asked && s >= Warning
			content = content || asked && s <= Note
		}
		if !found || !content {
			fmt.Fprintf(os.Stderr, "%s has no test of a world that is bad, or none of one that is good\n", c.ID)
			code = 1
		}
	}
	os.Exit(code)
}
