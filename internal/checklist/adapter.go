package checklist

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/idem-spec/idem/internal/lint"
)

// Adapter is what a user writes of a service.
type Adapter struct {
	// Name is the service's, and Language what it is written in; reports say both.
	Name     string `yaml:"name"`
	Language string `yaml:"language"`
	// Build is a shell command that is run once, before all else.
	Build string `yaml:"build"`
	// Service consumes. Beside are processes that run along with it: a scheduler, a relay.
	Service Process   `yaml:"service"`
	Beside  []Process `yaml:"beside"`

	Kafka    Kafka     `yaml:"kafka"`
	Postgres *Postgres `yaml:"postgres"`
	Redis    *Redis    `yaml:"redis"`
	// Downstream is how the HTTP server answers that stands for what the handler calls. Nil: it calls none.
	Downstream *Answer `yaml:"downstream"`

	// Group is the consumer group. Topics are made where they are missing, and Message.Topic too.
	Group  string           `yaml:"group"`
	Topics map[string]int32 `yaml:"topics"`
	// ID is what each message is told apart by; default "f{run}-{n}".
	ID string `yaml:"id"`
	// Headers go over those of the schema, in each message: a short retry policy, mostly.
	Headers map[string]string `yaml:"headers"`
	Message *Message          `yaml:"message"`
	// Order is the messages of a state machine, in order.
	Order []*Message `yaml:"order"`
	// Broadcast is a message that services of other adapters consume too.
	Broadcast   *Message     `yaml:"broadcast"`
	DeadLetters *DeadLetters `yaml:"dead_letters"`

	// Lease is the longest that a claim of a process that is gone may hold a message, and Session the same of its
	// partitions.
	Lease   Duration `yaml:"lease"`
	Session Duration `yaml:"session"`
	// Late is by how much a retry may come later than computed: schedulers look from time to time.
	Late Duration `yaml:"late"`
	// Patience is how long the service may take for what has to come.
	Patience Duration `yaml:"patience"`
	// Skip are faults that do not apply, each with its reason.
	Skip map[string]string `yaml:"skip"`

	file     string
	dir      string
	document *yaml.Node // for the lines of errors
}

// Process is a command, in a shell where it is one text. Relative paths are from the adapter's directory.
type Process struct {
	Command   Command           `yaml:"command"`
	Directory string            `yaml:"directory"`
	Env       map[string]string `yaml:"env"`
	// Ready is within a line of its output once it consumes. Empty: it is ready when the group has it as a member.
	Ready        string   `yaml:"ready"`
	StartTimeout Duration `yaml:"start_timeout"`
}

// Kafka is the brokers, and optional commands that take them away and bring them back, for the outage.
type Kafka struct {
	Brokers string `yaml:"brokers"`
	Stop    string `yaml:"stop"`
	Start   string `yaml:"start"`
}

// Postgres is a server and a database on it, which is made for the run and dropped after it.
type Postgres struct {
	URL      string `yaml:"url"`
	Database string `yaml:"database"`
	// Migrate makes the tables of idem; Setup is a file of SQL, or SQL, for the service's own.
	Migrate bool     `yaml:"migrate"`
	Setup   string   `yaml:"setup"`
	Standby *Standby `yaml:"standby"`
}

// Standby is a second server pair for the failover: a primary and its synchronous standby, in this order in the URL. An
// empty URL is none, as of a variable that is not set.
type Standby struct {
	URL     string `yaml:"url"`
	Kill    string `yaml:"kill"`
	Promote string `yaml:"promote"`
	Restore string `yaml:"restore"`
}

// Redis is a server.
type Redis struct {
	URL string `yaml:"url"`
}

// Answer is an HTTP answer.
type Answer struct {
	Status int    `yaml:"status"`
	Body   string `yaml:"body"`
}

// DeadLetters is where the service puts them: a table or a topic.
type DeadLetters struct {
	// Table has the columns Key and, where it has one, Payload.
	Table   string `yaml:"table"`
	Key     string `yaml:"key"`
	Payload string `yaml:"payload"`
	// Where is further SQL, for a table of several services.
	Where string `yaml:"where"`
	// Topic has messages with the header idempotency_key.
	Topic string `yaml:"topic"`
}

// Command is a list of words, or a text for the shell.
type Command []string

// UnmarshalYAML reads either.
func (c *Command) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*c = Command{"/bin/sh", "-c", inShell(n.Value)}
		return nil
	}
	var words []string
	if err := n.Decode(&words); err != nil {
		return err
	}
	*c = words
	return nil
}

// compound is a text that is more than one command with its arguments.
var compound = regexp.MustCompile(`[;&|\n(]|^\s*[A-Za-z_][A-Za-z0-9_]*=`)

// inShell has the command take the place of the shell, so that the process is the service. Where it is more than one
// command the shell stays, and ends when they have, so that the service's own end is waited for.
func inShell(text string) string {
	if compound.MatchString(text) {
		return "trap 'exit 143' TERM\n" + text
	}
	return "exec " + text
}

// there says that there is something to start.
func (c Command) there() bool { return len(c) > 0 && c[0] != "" }

// Duration is written as Go writes it: 500ms, 2m.
type Duration struct{ time.Duration }

// UnmarshalYAML reads it.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	value, err := time.ParseDuration(n.Value)
	if err != nil || value <= 0 {
		return fmt.Errorf("line %d: %q is no duration: write 500ms, 10s or 2m", n.Line, n.Value)
	}
	d.Duration = value
	return nil
}

// ReadAdapter reads and checks an adapter. ${NAME} in it is a variable of the environment.
func ReadAdapter(file string) (*Adapter, error) {
	a, err := readAdapter(file)
	if err != nil {
		return nil, wrong(file, a, err)
	}
	return a, nil
}

func readAdapter(file string) (*Adapter, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, err
	}
	document, expanded, err := expandVariables(data)
	if err != nil {
		return nil, err
	}
	a := &Adapter{file: file, document: document}
	d := yaml.NewDecoder(strings.NewReader(expanded))
	d.KnownFields(true)
	if err := d.Decode(a); err != nil {
		return nil, err
	}
	if a.dir, err = filepath.Abs(filepath.Dir(file)); err != nil {
		return nil, err
	}
	a.defaults()
	return a, a.check()
}

func (a *Adapter) defaults() {
	for _, d := range []struct {
		value     *Duration
		otherwise time.Duration
	}{
		{&a.Lease, 40 * time.Second}, {&a.Session, 30 * time.Second}, {&a.Late, 5 * time.Second}, {&a.Patience, time.Minute},
		{&a.Service.StartTimeout, time.Minute},
	} {
		if d.value.Duration == 0 {
			d.value.Duration = d.otherwise
		}
	}
	for i := range a.Beside {
		if a.Beside[i].StartTimeout.Duration == 0 {
			a.Beside[i].StartTimeout.Duration = time.Minute
		}
	}
	if a.ID == "" {
		a.ID = "f{run}-{n}"
	}
	if a.Postgres != nil && a.Postgres.Database == "" {
		a.Postgres.Database = "idem_faults_{run}"
	}
	if a.Postgres != nil && a.Postgres.Standby != nil && a.Postgres.Standby.URL == "" {
		a.Postgres.Standby = nil
	}
	if a.Downstream != nil && a.Downstream.Status == 0 {
		a.Downstream.Status = 200
	}
	if l := a.DeadLetters; l != nil && l.Table != "" && l.Key == "" {
		l.Key = "idempotency_key"
		if l.Table == "dead_letter" && l.Payload == "" {
			l.Payload = "payload"
		}
	}
}

// check says the first thing that is wrong, and how to mend it.
func (a *Adapter) check() error {
	for _, need := range []struct {
		there bool
		what  string
	}{
		{a.Name != "", "no name: of the service, for the report"},
		{a.Name == filepath.Base(a.Name) && filepath.IsLocal(a.Name), "name: its logs go to a directory of this name, so it is no path"},
		{a.Service.Command.there(), "no service.command: how the service is started"},
		{!slices.ContainsFunc(a.Beside, func(p Process) bool { return !p.Command.there() }), "beside: one has no command: how it is started"},
		{a.Group != "", "no group: the consumer group of the service"},
		{a.Kafka.Brokers != "", "no kafka.brokers, as in ${KAFKA_BROKERS}"},
		{a.Message != nil, "no message: a sample of what the service consumes"},
		{strings.Contains(a.ID, "{n}"), "id has no {n}: each message needs an id of its own"},
	} {
		if !need.there {
			return errors.New(need.what)
		}
	}
	if p := a.Postgres; p != nil && p.Standby != nil && (p.Standby.Kill == "" || p.Standby.Promote == "") {
		return errors.New("postgres.standby needs kill and promote: the commands that kill the primary and promote the other")
	}
	if d := a.Downstream; d != nil && (d.Status < 200 || d.Status > 599) {
		return fmt.Errorf("downstream.status %d: it is the status of an answer, 200 to 599", d.Status)
	}
	for topic, partitions := range a.Topics {
		if partitions < 1 {
			return fmt.Errorf("topics.%s: %d partitions: it is at least 1", topic, partitions)
		}
	}
	if (a.Kafka.Stop == "") != (a.Kafka.Start == "") {
		return errors.New("kafka.stop and kafka.start go together")
	}
	if l := a.DeadLetters; l != nil {
		if (l.Table == "") == (l.Topic == "") {
			return errors.New("dead_letters: it is a table or a topic")
		}
		if l.Table != "" && a.Postgres == nil {
			return errors.New("dead_letters.table is of PostgreSQL: say where that is by postgres.url")
		}
	}
	for place, m := range a.messages() {
		if m == nil {
			return fmt.Errorf("%s is empty", place)
		}
		if err := m.check(a); err != nil {
			return &placeError{place, err}
		}
		if _, there := a.Topics[m.Topic]; !there && len(a.Topics) > 0 {
			known := slices.Sorted(maps.Keys(a.Topics))
			return &placeError{place + ".topic", fmt.Errorf("%s is not among topics: add it there if the service reads it%s", m.Topic, lint.DidYouMean(m.Topic, known))}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Skip)) {
		if !slices.ContainsFunc(faults, func(f fault) bool { return f.Name == name }) {
			return &placeError{"skip." + name, fmt.Errorf("there is no fault %s; idem faults --list shows them%s", name, Near(name))}
		}
		if strings.TrimSpace(a.Skip[name]) == "" {
			return fmt.Errorf("skip.%s has no reason: say why the fault does not apply", name)
		}
	}
	return nil
}

// messages are all messages, by their place in the adapter.
func (a *Adapter) messages() map[string]*Message {
	all := map[string]*Message{}
	if a.Message != nil {
		all["message"] = a.Message
	}
	for i, m := range a.Order {
		all[fmt.Sprintf("order[%d]", i)] = m
	}
	if a.Broadcast != nil {
		all["broadcast"] = a.Broadcast
	}
	return all
}

// NeedsSchema says whether a message is of a schema.
func (a *Adapter) NeedsSchema() bool {
	for _, m := range a.messages() {
		if m.Type != "" {
			return true
		}
	}
	return false
}
