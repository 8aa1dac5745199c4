package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/config"
)

var rules = []*lint.Rule{
	{ID: "IDEM_KEY_VERSION_MISSING", Kind: lint.Schema, Category: lint.Template},
	{ID: "IDEM_DELAY_CHANGED", Kind: lint.Change, Category: lint.Retry},
	{ID: "IDEM_HEADER_MISSING", Kind: lint.Message, Category: lint.Header},
	{ID: "IDEM_IGNORE_STALE", Kind: lint.Schema, Category: lint.Suppression},
}

func TestWhatARepositorySays(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("idem.yaml", []byte(`# all of it
version: v1
schema: proto
lint:
  use: [DEFAULT, TEMPLATE]
  except:
    - IDEM_KEY_VERSION_MISSING
  ignore: [proto/old/, ./vendor]
  ignore_only:
    IDEM_KEY_VERSION_MISSING: [proto/shop/v1/paid.proto]
  severity:
    TEMPLATE: warning
    IDEM_KEY_VERSION_MISSING: off
  baseline: .idem/lint.json
breaking:
  except: [IDEM_DELAY_CHANGED, IDEM_IGNORE_STALE]
check:
facts:
  default: &all
    dedup_retention: 14d
    topic_retention: 36h
    consumers: 3
  events:
    payments.succeeded:
      topic_retention: 90m
      key_readers: everyone
    payments.failed: *all
`), rules)
	require.NoError(t, err)
	assert.Equal(t, "proto", c.Schema)
	assert.Equal(t, config.Section{
		Use: []string{"DEFAULT", "TEMPLATE"}, Except: []string{"IDEM_KEY_VERSION_MISSING"},
		Ignore:     []string{"proto/old", "vendor"},
		IgnoreOnly: map[string][]string{"IDEM_KEY_VERSION_MISSING": {"proto/shop/v1/paid.proto"}},
		Severity:   map[string]lint.Severity{"TEMPLATE": lint.Warning, "IDEM_KEY_VERSION_MISSING": 0},
		Baseline:   ".idem/lint.json",
	}, c.Lint)
	assert.Same(t, &c.Breaking, c.Of(lint.Change))
	assert.Equal(t, []string{"IDEM_DELAY_CHANGED", "IDEM_IGNORE_STALE"}, c.Breaking.Except)
	assert.Zero(t, *c.Of(lint.Message))

	fact := c.Facts.Of("payments.succeeded")
	assert.Equal(t, 14*24*time.Hour, *fact.DedupRetention, "what is said of all holds for each")
	assert.Equal(t, 90*time.Minute, *fact.TopicRetention, "what is said of one goes first")
	assert.Equal(t, "everyone", *fact.KeyReaders)
	assert.Nil(t, c.Facts.Of("mail.sent").KeyReaders)
	assert.EqualValues(t, 3, *c.Facts.Of("payments.failed").Consumers)
	assert.Equal(t, 36*time.Hour, *c.Facts.Default.TopicRetention, "a fact of one is not one of all")
}

func TestFactsThatAreMissing(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("idem.yaml", []byte("version: v1\nfacts:\n  default: {consumers: 1}\n  events:\n    a.b: {key_readers: operators}\n"), rules)
	require.NoError(t, err)
	assert.Equal(t, []string{"dedup_retention", "nothing"}, c.Facts.Missing([]string{"consumers", "dedup_retention", "key_readers", "nothing"}))
	assert.Empty(t, c.Facts.Missing(nil))
	for _, key := range config.Keys() {
		assert.False(t, config.Facts{}.Declared(key), key)
	}
}

func TestWhatIdemYAMLGetsWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"no YAML":               {"version: v1\n\tschema: x\n", "idem.yaml:2:1: this is no YAML: "},
		"nothing":               {"# nothing\n", "idem.yaml:1:1: the file is empty: write version: v1, and schema"},
		"a list":                {"- version\n", "idem.yaml:1:1: there are no keys here: the keys are "},
		"no version":            {"schema: proto\n", `idem.yaml:1:1: the version is "", and this program knows v1: write version: v1`},
		"a later version":       {"version: v2\n", `idem.yaml:1:1: the version is "v2", and this program knows v1`},
		"a key misspelled":      {"version: v1\nlnit: {}\n", `idem.yaml:2:1: there is no key "lnit" here; did you mean lint?`},
		"an unknown key":        {"version: v1\nsomething: {}\n", `idem.yaml:2:1: there is no key "something" here: there are breaking, check, facts, lint, schema, version`},
		"a key twice":           {"version: v1\nlint: {}\nlint: {}\n", `idem.yaml:3:1: the key "lint" is here twice: leave one`},
		"a rule misspelled":     {"version: v1\nlint:\n  except: [IDEM_KEY_VERSION_MISING]\n", `idem.yaml:3:12: there is no rule and no category "IDEM_KEY_VERSION_MISING"; did you mean IDEM_KEY_VERSION_MISSING?`},
		"a category misspelled": {"version: v1\nlint:\n  use: [TEMPLATES]\n", "did you mean TEMPLATE?"},
		"a rule of nobody":      {"version: v1\nlint:\n  use: [FOO_BAR_BAZ_QUX]\n", "`idem rules --kind lint` lists them"},
		"a rule of another":     {"version: v1\nlint:\n  use: [IDEM_DELAY_CHANGED]\n", "idem.yaml:3:9: IDEM_DELAY_CHANGED is a rule of idem breaking: write it below breaking"},
		"one in place of many":  {"version: v1\nlint:\n  use: TEMPLATE\n", "idem.yaml:3:8: this is no list: write each value in a line of its own, behind a dash"},
		"many in place of one":  {"version: v1\nschema: [a, b]\n", "idem.yaml:2:9: there is more than one value here: write one"},
		"a severity":            {"version: v1\nlint:\n  severity: {TEMPLATE: fatal}\n", `idem.yaml:3:24: "fatal" is no severity: write error, warning or off`},
		"an absolute path":      {"version: v1\nlint:\n  ignore: [/proto]\n", `idem.yaml:3:12: "/proto" is no path relative to idem.yaml`},
		"a pattern":             {"version: v1\nlint:\n  ignore: [proto/*.proto]\n", `idem.yaml:3:12: "proto/*.proto" is a pattern, and here are paths`},
		"a pattern of a rule":   {"version: v1\nlint:\n  ignore_only:\n    TEMPLATE: [\"**\"]\n", `"**" is a pattern`},
		"two documents":         {"version: v1\n---\nlint: {}\n", "idem.yaml:2:1: there is a second document here"},
		"an empty path":         {"version: v1\nlint:\n  baseline: \"\"\n", `"" is no path`},
		"a fact misspelled":     {"version: v1\nfacts:\n  default: {consumer: 3}\n", `idem.yaml:3:13: there is no key "consumer" here; did you mean consumers?`},
		"a number":              {"version: v1\nfacts:\n  default: {consumers: 0}\n", `idem.yaml:3:24: "0" is no value of consumers: write a whole number from 1`},
		"a duration":            {"version: v1\nfacts:\n  events:\n    a.b: {dedup_retention: 14}\n", `idem.yaml:4:28: "14" is no value of dedup_retention: write a duration such as 14d, 36h or 10m`},
		"days in parts":         {"version: v1\nfacts:\n  default: {dedup_retention: 1.5d}\n", "write a duration"},
		"too many days":         {"version: v1\nfacts:\n  default: {dedup_retention: 99999999d}\n", "write a duration"},
		"a time that is over":   {"version: v1\nfacts:\n  default: {dedup_retention: -1h}\n", "write a duration"},
		"a word":                {"version: v1\nfacts:\n  default: {key_readers: nobody}\n", "write operators or everyone"},
		"facts of nothing":      {"version: v1\nfacts:\n  events: [a.b]\n", "idem.yaml:3:11: there are no keys here: write an event type, and below it the facts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Parse("idem.yaml", []byte(c.text), rules)
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
		})
	}
}

func TestAllThatIsWrongIsSaid(t *testing.T) {
	t.Parallel()
	_, err := config.Parse("idem.yaml", []byte("version: v1\nlnit: {}\nfacts:\n  default: {consumers: many}\n"), rules)
	require.ErrorContains(t, err, "idem.yaml:2:1: ")
	assert.ErrorContains(t, err, "\nidem.yaml:4:24: ")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("version: v1\nlint: {use: [TEMPLATE], severity: {ALL: off}}\nfacts: {default: {consumers: 1}}\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("version: v1\nfacts: &f {events: *f}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := config.Parse("idem.yaml", data, rules)
		if err == nil && c == nil {
			t.Fatal("neither a configuration nor an error")
		}
	})
}

func TestAliasInAList(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("idem.yaml", []byte("version: v1\nlint:\n  ignore: [&old proto/old]\nbreaking:\n  ignore: [*old]\n"), rules)
	require.NoError(t, err)
	assert.Equal(t, []string{"proto/old"}, c.Breaking.Ignore)
}
