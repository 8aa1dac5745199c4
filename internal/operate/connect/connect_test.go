package connect_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/operate/connect"
)

// userConfig makes the user's file, and an environment that says nothing.
func userConfig(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("HOME", dir)
	for _, name := range []string{"IDEM_CONFIG", "IDEM_CONTEXT", "IDEM_DSN", "DATABASE_URL", "IDEM_BROKERS", "KAFKA_BROKERS", "IDEM_REDIS", "REDIS_URL"} {
		t.Setenv(name, "")
	}
	file, err := connect.ConfigFile()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	if text != "" {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return file
}

func TestAVariableNamesTheFileOfContexts(t *testing.T) {
	userConfig(t, contexts)
	file := filepath.Join(t.TempDir(), "shop.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`contexts: {shop: {brokers: ["kafka-9:9092"]}}`), 0o600))
	t.Setenv("IDEM_CONFIG", file)

	target, err := connect.Resolve(connect.Flags{Context: "shop"})
	require.NoError(t, err)
	assert.Equal(t, []string{"kafka-9:9092"}, target.Brokers)
	_, err = connect.Resolve(connect.Flags{Context: "prod"})
	assert.ErrorContains(t, err, file)
}

const contexts = `contexts:
  prod:
    brokers: [kafka-1:9092, kafka-2:9092]
    redis: redis://cache:6379/0
    stores:
      payments: postgres://ops@db/payments
      orders: sqlite:orders.db
  local:
    stores: {all: "postgres://localhost/shop"}
    write: true
`

func TestWhereACommandWorks(t *testing.T) {
	file := userConfig(t, contexts)
	for name, c := range map[string]struct {
		flags connect.Flags
		env   map[string]string
		want  connect.Target
	}{
		"nothing": {},
		"the flag before the environment": {
			connect.Flags{DSN: "postgres://a/b"}, map[string]string{"IDEM_DSN": "postgres://c/d", "IDEM_CONTEXT": "prod"},
			connect.Target{Stores: []connect.Database{{DSN: "postgres://a/b"}}},
		},
		"its own variables before those of others": {
			connect.Flags{}, map[string]string{"IDEM_DSN": "a", "DATABASE_URL": "b", "IDEM_BROKERS": "k1:1,k2:1", "KAFKA_BROKERS": "k3:1"},
			connect.Target{Stores: []connect.Database{{DSN: "a"}}, Brokers: []string{"k1:1", "k2:1"}},
		},
		"those of others": {
			connect.Flags{}, map[string]string{"DATABASE_URL": "b", "KAFKA_BROKERS": "k3:1", "REDIS_URL": "r"},
			connect.Target{Stores: []connect.Database{{DSN: "b"}}, Brokers: []string{"k3:1"}, Redis: "r"},
		},
		"a context, which takes nothing from the environment": {
			connect.Flags{Context: "local"}, map[string]string{"IDEM_DSN": "a", "KAFKA_BROKERS": "k3:1", "IDEM_REDIS": "r"},
			connect.Target{Context: "local", Stores: []connect.Database{{"all", "postgres://localhost/shop"}}},
		},
		"a context is read-only": {
			connect.Flags{}, map[string]string{"IDEM_CONTEXT": "prod"},
			connect.Target{Context: "prod", ReadOnly: true, Brokers: []string{"kafka-1:9092", "kafka-2:9092"}, Redis: "redis://cache:6379/0",
				Stores: []connect.Database{{"orders", "sqlite:orders.db"}, {"payments", "postgres://ops@db/payments"}}},
		},
		"one store of a context": {
			connect.Flags{Context: "prod", Store: "orders", Brokers: []string{"k:1"}}, nil,
			connect.Target{Context: "prod", ReadOnly: true, Brokers: []string{"k:1"}, Redis: "redis://cache:6379/0", Stores: []connect.Database{{"orders", "sqlite:orders.db"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range c.env {
				t.Setenv(variable, value)
			}
			got, err := connect.Resolve(c.flags)
			require.NoError(t, err)
			assert.Equal(t, c.want.Context, got.Context)
			assert.Equal(t, c.want.Stores, got.Stores)
			assert.Equal(t, c.want.Brokers, got.Brokers)
			assert.Equal(t, c.want.Redis, got.Redis)
			assert.Equal(t, c.want.ReadOnly, got.ReadOnly)
			if got.ReadOnly {
				var denied *connect.ReadOnlyError
				require.ErrorAs(t, got.NeedWrite(), &denied)
				assert.Contains(t, denied.Error(), file)
			}
		})
	}
}

func TestWhatCannotBeMeant(t *testing.T) {
	for name, c := range map[string]struct {
		config string
		flags  connect.Flags
		want   string
	}{
		"no such context":       {contexts, connect.Flags{Context: "prd"}, `no context "prd": `},
		"no file":               {"", connect.Flags{Context: "prod"}, `config.yaml: write it, with contexts: {prod: {stores: `},
		"an empty file":         {"contexts: {}", connect.Flags{Context: "prod"}, "config.yaml has none: write contexts: {prod: "},
		"no such store":         {contexts, connect.Flags{Context: "prod", Store: "x"}, "the context prod has orders, payments"},
		"a store misspelled":    {contexts, connect.Flags{Context: "prod", Store: "order"}, "did you mean orders?"},
		"a context misspelled":  {contexts, connect.Flags{Context: "prd"}, "did you mean prod?"},
		"two places":            {contexts, connect.Flags{Context: "prod", DSN: "x"}, "say one of them"},
		"a store of no context": {contexts, connect.Flags{DSN: "x", Store: "orders"}, "say --context"},
		"a key misspelled":      {"contexts: {prod: {store: {a: hunter2}}}", connect.Flags{Context: "prod"}, "it has contexts"},
		"a value of a kind":     {"contexts: {prod: {write: hunter2}}", connect.Flags{Context: "prod"}, "it has contexts"},
		"an empty one":          {"contexts: {prod: }", connect.Flags{Context: "prod"}, `the context "prod" is empty`},
	} {
		t.Run(name, func(t *testing.T) {
			userConfig(t, c.config)
			_, err := connect.Resolve(c.flags)
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestHowManyStoresACommandNeeds(t *testing.T) {
	userConfig(t, contexts+"  empty: {write: true}\n")
	all, err := connect.Resolve(connect.Flags{Context: "prod"})
	require.NoError(t, err)
	assert.NoError(t, all.NeedStores())
	assert.ErrorContains(t, all.NeedOne(), "orders, payments: say which by --store")
	none, err := connect.Resolve(connect.Flags{Context: "empty"})
	require.NoError(t, err)
	assert.ErrorContains(t, none.NeedOne(), "has no stores")
	nowhere, err := connect.Resolve(connect.Flags{})
	require.NoError(t, err)
	assert.ErrorIs(t, nowhere.NeedStores(), connect.ErrNoStore)
}

func TestPasswordsAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{
		"postgres://u:hunter2@127.0.0.1:1/x",
		"postgres://u:hunter2%2Fa@127.0.0.1:1/x",
		"postgres://u:a@hunter2@127.0.0.1:1/x",
		"postgres://u:a/hunter2@127.0.0.1:1/x",
		"postgres://u:hunter2:1@127.0.0.1:x/x",
		"postgres://127.0.0.1:1/x?password=hunter2&sslpassword=hunter2",
		"postgres://u:hunter2",
		"host=127.0.0.1 port=1 password=hunter2",
		"host=127.0.0.1 port=x password = 'hunter2'",
	} {
		_, err := connect.Database{Name: "payments", DSN: dsn}.Open(t.Context(), false)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "hunter2", dsn)
		assert.Contains(t, err.Error(), "store payments: ")
		cause := errors.New("x " + dsn)
		got := connect.Hide(cause, dsn)
		assert.NotContains(t, got.Error(), "hunter2", dsn)
		assert.ErrorIs(t, got, cause)
		assert.NotContains(t, connect.Database{DSN: dsn}.Place(), "hunter2", dsn)
	}
}

func TestAFileThatIsNotThereIsNotMade(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "none.db")
	_, err := connect.Database{DSN: "sqlite:" + file}.Open(t.Context(), false)
	require.ErrorContains(t, err, "there is no file")
	assert.NoFileExists(t, file)
}

func TestAFileWithAPasswordIsItsOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are others there")
	}
	const with = "contexts: {prod: {stores: {payments: \"postgres://ops:hunter2@db/payments\"}}}"
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"the owner's alone":              {with, 0o600, ""},
		"read by its group":              {with, 0o640, "the store payments of the context prod"},
		"read by all":                    {with, 0o644, "chmod 600"},
		"a password in pairs":            {"contexts: {prod: {stores: {payments: \"host=db password=hunter2\"}}}", 0o644, "0644"},
		"one of Redis":                   {"contexts: {prod: {redis: \"redis://:hunter2@cache:6379/0\"}}", 0o604, "the redis of the context prod"},
		"no password, and read by all":   {"contexts: {prod: {stores: {payments: postgres://ops@db/payments}, redis: redis://cache:6379/0}}", 0o644, ""},
		"one of a context not asked for": {"contexts: {prod: {}, other: {redis: \"redis://:hunter2@cache:6379/0\"}}", 0o644, "the context other"},
	} {
		t.Run(name, func(t *testing.T) {
			file := userConfig(t, c.text)
			require.NoError(t, os.Chmod(file, c.mode))
			_, err := connect.Resolve(connect.Flags{Context: "prod"})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			assert.ErrorContains(t, err, file)
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}
