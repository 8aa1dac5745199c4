// Package payload turns payloads into messages and messages into what a broker takes: raw protobuf, protobuf's JSON
// mapping, and the wire format of Confluent's schema registry, which is not asked.
//
// Message makes a broker.Message of a message of generated code, with its key, its headers and an event_id: outbox
// and producers send it. Decode reads what a consumer got. Which type it is comes from the event_type header, and what
// a failure means is said here: a payload that cannot be read is MALFORMED.
package payload
