// Package connect says which stores and brokers an operator's command works on, the same for every command: flags
// first, then a named context of the user's own config, then the environment. It opens the stores, and keeps
// passwords out of every error.
package connect
