package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint/config"
)

func TestFactsOfOptionsAreThoseOfIdemYAML(t *testing.T) {
	t.Parallel()
	file, err := config.Parse("idem.yaml", []byte(`version: v1
facts:
  languages: [go, java]
  default:
    consumers: 2
    dedup_retention: 14d
    key_readers: everyone
  events:
    payments.succeeded:
      consumers: 3
      topic_retention: 36h
    orders.paid:
      consumers: 4
`), nil)
	require.NoError(t, err)
	facts, err := config.FactsOf("options", map[string]any{
		"languages":       []string{"go", "java"},
		"consumers":       int64(2),
		"dedup_retention": "14d",
		"key_readers":     "everyone",
		"events":          []string{"payments.succeeded: {consumers: 3, topic_retention: 36h}", "orders.paid: {consumers: 4}"},
	})
	require.NoError(t, err)
	require.Equal(t, file.Facts, facts)

	facts, err = config.FactsOf("options", nil)
	require.NoError(t, err)
	require.Equal(t, config.Facts{}, facts)
}

func TestOptionThatIsNoFactIsRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		options map[string]any
		want    string
	}{
		{"another key", map[string]any{"consumer": int64(2)}, `options: there is no key "consumer" here; did you mean consumers?`},
		{"no value of it", map[string]any{"consumers": int64(0)}, `options: "0" is no value of consumers: write a whole number from 1`},
		{"a list", map[string]any{"consumers": []int64{1, 2}}, "options: there is more than one value here: write one"},
		{"no language", map[string]any{"languages": []string{"rust"}}, `options: "rust" is no language that code is generated in: there are go, java, python`},
		{
			"no facts of an event", map[string]any{"events": []string{"payments.succeeded"}},
			`options: "payments.succeeded" declares no fact: write an event type and its facts, as in "payments.succeeded: {consumers: 3}"`,
		},
		{"no YAML", map[string]any{"events": []string{"a: {"}}, `options: "a: {" declares no fact: write an event type and its facts, as in "payments.succeeded: {consumers: 3}"`},
		{"no fact of an event", map[string]any{"events": []string{"a: {consumers: x}"}}, `options: "x" is no value of consumers: write a whole number from 1`},
		{"an event twice", map[string]any{"events": []string{"a: {consumers: 1}", "a: {consumers: 2}"}}, `options: the key "a" is here twice: leave one`},
		{"no event", map[string]any{"events": []string{""}}, `options: "" declares no fact: write an event type and its facts, as in "payments.succeeded: {consumers: 3}"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.FactsOf("options", test.options)
			require.EqualError(t, err, test.want)
		})
	}
}
