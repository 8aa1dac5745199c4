// Package topics plans the topics and the rights that a service needs, writes the plan as commands of Kafka or as
// Terraform, and compares it with a cluster. It changes nothing.
package topics
