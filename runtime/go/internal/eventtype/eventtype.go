// Package eventtype bounds the event types that become labels: they come from messages. Which ones are names: package names.
package eventtype

const (
	// Most is how many event types of a scope have a label of their own, unless said otherwise.
	Most = 200
	// Other stands for those beyond, and for what is no name.
	Other = "other"
)
