package main

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/idem-spec/idem/internal/operate/payload"
	"github.com/idem-spec/idem/runtime/go/store"
)

// letterJSON is a dead letter in --output json. Fields are added, and never renamed or removed.
type letterJSON struct {
	Store         string          `json:"store,omitempty"`
	ID            int64           `json:"id"`
	Scope         string          `json:"scope"`
	Key           string          `json:"key"`
	EventType     string          `json:"event_type"`
	BizKey        string          `json:"biz_key"`
	EventID       string          `json:"event_id"`
	Outcome       string          `json:"outcome"`
	Reason        string          `json:"reason"`
	Topic         string          `json:"topic"`
	Source        sourceJSON      `json:"source"`
	RedriveCount  int32           `json:"redrive_count"`
	RetryCount    int32           `json:"retry_count"`
	HoldCount     int32           `json:"hold_count"`
	CreatedAt     time.Time       `json:"created_at"`
	RedrivenAt    *time.Time      `json:"redriven_at,omitempty"`
	PayloadBytes  int             `json:"payload_bytes"`
	PayloadSHA256 string          `json:"payload_sha256"`
	Headers       json.RawMessage `json:"headers,omitempty"`
	Message       string          `json:"message,omitempty"`
	Payload       json.RawMessage `json:"payload,omitempty"`
	PayloadHidden []string        `json:"payload_hidden,omitempty"`
	PayloadError  string          `json:"payload_error,omitempty"`
	Redrive       *redriveJSON    `json:"redrive,omitempty"`
	Repair        *repairJSON     `json:"repair,omitempty"`
}

// sourceJSON is where a delivery came from.
type sourceJSON struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

// outcomeOf is the name of an outcome as it was written.
func outcomeOf(d *store.DeadLetter) string { return cmp.Or(d.OtherOutcome, d.Outcome.String()) }

// digestOf is that of a payload, also of one that was left out of a list.
func digestOf(d *store.DeadLetter) string {
	if d.PayloadSHA256 != nil {
		return hex.EncodeToString(d.PayloadSHA256)
	}
	return payload.Digest(d.Payload)
}

func letterOf(name string, d *store.DeadLetter) letterJSON {
	j := letterJSON{
		Store: name, ID: d.ID, Scope: d.Scope, Key: d.Key, EventType: d.EventType, BizKey: d.BizKey, EventID: d.EventID,
		Outcome: outcomeOf(d), Reason: d.Reason, Topic: d.Topic,
		Source:       sourceJSON{d.SourceTopic, d.SourcePartition, d.SourceOffset},
		RedriveCount: d.RedriveCount, RetryCount: d.RetryCount, HoldCount: d.HoldCount,
		CreatedAt:    d.CreatedAt.UTC(),
		PayloadBytes: max(len(d.Payload), d.PayloadBytes), PayloadSHA256: digestOf(d),
	}
	if !d.RedrivenAt.IsZero() {
		at := d.RedrivenAt.UTC()
		j.RedrivenAt = &at
	}
	return j
}
