package observe

// Labels are a metric's. What a metric does not have stays empty; Partition counts with the metrics of
// partitions alone.
type Labels struct {
	Scope, EventType, Topic, Outcome, Store string
	Partition                               int32
}

// Kind is what Measure does with a value.
type Kind uint8

// The kinds.
const (
	Counter Kind = iota
	Gauge
	Histogram
)

var kindNames = [...]string{Counter: "counter", Gauge: "gauge", Histogram: "histogram"}

// String is "counter", "gauge" or "histogram".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Metric is one of the runtime's metrics. Info has its name, unit and meaning.
type Metric uint8

// The metrics.
const (
	Messages          Metric = iota // idem_messages_total
	HandlerSeconds                  // idem_handler_seconds
	DeadLetters                     // idem_dead_letters
	DeadLetterOldest                // idem_dead_letter_oldest_age_seconds
	ConsumerLag                     // idem_consumer_lag
	ConsumerLagGrowth               // idem_consumer_lag_growth
	ConsumerOldest                  // idem_consumer_oldest_message_age_seconds
	InFlight                        // idem_messages_in_flight
	RouteOpen                       // idem_route_breaker_open
	RetriesPending                  // idem_retries_pending
	RetriesParked                   // idem_retries_parked
	RetryOldestDue                  // idem_retry_oldest_due_age_seconds
	RetriesPublished                // idem_retries_published_total
	OutboxPending                   // idem_outbox_pending
	OutboxFailed                    // idem_outbox_failed
	OutboxOldest                    // idem_outbox_oldest_age_seconds
	OutboxSent                      // idem_outbox_sent_total
	StoreErrors                     // idem_store_errors_total
	StoreDegraded                   // idem_store_degraded
	RecordsCleaned                  // idem_records_cleaned_total
	LeaseLost                       // idem_leases_lost_total
	Superseded                      // idem_superseded_total
	Rebalances                      // idem_rebalances_total
	metricCount
)

// Info is what there is to know of a metric.
type Info struct {
	// Name is Prometheus's, "idem_consumer_lag".
	Name string
	Kind Kind
	// Unit is UCUM's, as OpenTelemetry has it: "s", "{message}".
	Unit string
	// Labels are the names of the labels.
	Labels []string
	// FromDelivery says that observers derive it from Delivery.
	FromDelivery bool
	// Help is its meaning, one sentence.
	Help string
}

// The labels' names.
const (
	LabelGroup     = "group" // Labels.Scope: the consumer's scope, which is its group unless said otherwise
	LabelEventType = "event_type"
	LabelTopic     = "topic"
	LabelOutcome   = "outcome"
	LabelStore     = "store"
	LabelPartition = "partition"
)

var (
	group          = []string{LabelGroup}
	groupEventType = []string{LabelGroup, LabelEventType}
	groupPartition = []string{LabelGroup, LabelTopic, LabelPartition}
	ofStore        = []string{LabelStore}
	ofTopic        = []string{LabelTopic}
)

var infos = [metricCount]Info{
	Messages:          {Name: "idem_messages_total", Unit: "{message}", Labels: []string{LabelGroup, LabelEventType, LabelOutcome}, FromDelivery: true, Help: "Deliveries that ended, by outcome; SKIPPED are those for other scopes and of ignored event types, SHADOW_… those of shadow mode."},
	HandlerSeconds:    {Name: "idem_handler_seconds", Kind: Histogram, Unit: "s", Labels: groupEventType, FromDelivery: true, Help: "Time in the handler, of deliveries for which it ran."},
	DeadLetters:       {Name: "idem_dead_letters", Kind: Gauge, Unit: "{message}", Labels: groupEventType, Help: "Dead letters that are neither redriven nor dropped."},
	DeadLetterOldest:  {Name: "idem_dead_letter_oldest_age_seconds", Kind: Gauge, Unit: "s", Labels: groupEventType, Help: "Age of the oldest of them."},
	ConsumerLag:       {Name: "idem_consumer_lag", Kind: Gauge, Unit: "{message}", Labels: groupPartition, Help: "Messages of a partition that are not committed yet."},
	ConsumerLagGrowth: {Name: "idem_consumer_lag_growth", Kind: Gauge, Unit: "{message}/s", Labels: groupPartition, Help: "Growth of the lag in messages a second; negative while the consumer catches up."},
	ConsumerOldest:    {Name: "idem_consumer_oldest_message_age_seconds", Kind: Gauge, Unit: "s", Labels: groupPartition, Help: "Age of the oldest message of a partition that is not committed yet; 0 where there is none."},
	InFlight:          {Name: "idem_messages_in_flight", Kind: Gauge, Unit: "{message}", Labels: group, Help: "Deliveries that were fetched and have not ended."},
	RouteOpen:         {Name: "idem_route_breaker_open", Kind: Gauge, Unit: "1", Labels: groupEventType, Help: "1 while the route's circuit breaker keeps its messages back, 0 otherwise."},
	RetriesPending:    {Name: "idem_retries_pending", Kind: Gauge, Unit: "{message}", Labels: ofStore, Help: "Rows of msg_retry that wait for their time."},
	RetriesParked:     {Name: "idem_retries_parked", Kind: Gauge, Unit: "{message}", Labels: ofStore, Help: "Rows of msg_retry that wait behind the head of their lane."},
	RetryOldestDue:    {Name: "idem_retry_oldest_due_age_seconds", Kind: Gauge, Unit: "s", Labels: ofStore, Help: "How long the oldest row of msg_retry that is due has been waiting for a scheduler; 0 where none is due."},
	RetriesPublished:  {Name: "idem_retries_published_total", Unit: "{message}", Labels: ofTopic, Help: "Rows of msg_retry that a scheduler has published."},
	OutboxPending:     {Name: "idem_outbox_pending", Kind: Gauge, Unit: "{message}", Labels: ofStore, Help: "Messages in the outbox that the broker has not confirmed."},
	OutboxFailed:      {Name: "idem_outbox_failed", Kind: Gauge, Unit: "{message}", Labels: ofStore, Help: "Messages in the outbox that the relay has given up; later ones of their biz keys wait."},
	OutboxOldest:      {Name: "idem_outbox_oldest_age_seconds", Kind: Gauge, Unit: "s", Labels: ofStore, Help: "Age of the oldest message in the outbox; 0 where it is empty."},
	OutboxSent:        {Name: "idem_outbox_sent_total", Unit: "{message}", Labels: ofTopic, Help: "Messages that the relay has sent and the broker confirmed."},
	StoreErrors:       {Name: "idem_store_errors_total", Unit: "{error}", Labels: ofStore, Help: "Calls of a store that failed."},
	StoreDegraded:     {Name: "idem_store_degraded", Kind: Gauge, Unit: "1", Labels: ofStore, Help: "1 while a store does without a part of it, such as Redis in front of PostgreSQL, 0 otherwise."},
	RecordsCleaned:    {Name: "idem_records_cleaned_total", Unit: "{record}", Labels: ofStore, Help: "Dedup records that the cleaner removed after their retention."},
	LeaseLost:         {Name: "idem_leases_lost_total", Unit: "{lease}", Labels: group, Help: "Claims that were lost while their handler ran."},
	Superseded:        {Name: "idem_superseded_total", Unit: "{message}", Labels: groupEventType, FromDelivery: true, Help: "Messages whose transition another key had made."},
	Rebalances:        {Name: "idem_rebalances_total", Unit: "{rebalance}", Labels: group, Help: "Generations of the consumer group that this process has joined."},
}

// Info is what there is to know of the metric.
func (m Metric) Info() Info {
	if m >= metricCount {
		return Info{Name: "unknown"}
	}
	return infos[m]
}

// String is the metric's name.
func (m Metric) String() string { return m.Info().Name }

// Metrics lists all metrics.
func Metrics() []Metric {
	all := make([]Metric, metricCount)
	for i := range all {
		all[i] = Metric(i)
	}
	return all
}

// Only is the labels that the metric has; the others are left out.
func (m Metric) Only(l Labels) Labels {
	var only Labels
	for _, name := range m.Info().Labels {
		switch name {
		case LabelGroup:
			only.Scope = l.Scope
		case LabelEventType:
			only.EventType = l.EventType
		case LabelTopic:
			only.Topic = l.Topic
		case LabelOutcome:
			only.Outcome = l.Outcome
		case LabelStore:
			only.Store = l.Store
		case LabelPartition:
			only.Partition = l.Partition
		}
	}
	return only
}

// Value is the value of a label, by its name.
func (l *Labels) Value(name string) string {
	switch name {
	case LabelGroup:
		return l.Scope
	case LabelEventType:
		return l.EventType
	case LabelTopic:
		return l.Topic
	case LabelOutcome:
		return l.Outcome
	case LabelStore:
		return l.Store
	case LabelPartition:
		return decimal(l.Partition)
	}
	return ""
}
