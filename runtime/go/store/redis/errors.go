package redis

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// What keeps Redis from working. Each error of this package that has one of these causes wraps it.
var (
	// ErrTwoSlots: a claim of two keys on a Cluster or a Ring. (KEY-030)
	ErrTwoSlots = errors.New("a key and its previous one are on two slots of a Redis Cluster, which cannot be claimed together: use one node, a database, or Redis in front of a database (store/tiered) until the migration of the template is over")
	// ErrLanes: a route that parks.
	ErrLanes = errors.New("Redis keeps no lanes, so that a route cannot park: order it by Block, or use a database")
	// ErrFollowUps: a Settlement with a Retry or a DeadLetter. (DEDUP-021)
	ErrFollowUps = errors.New("Redis keeps no retries and no dead letters: publish them, have it confirmed, then settle without them")
	// ErrCredentials: wrong or missing user or password, or a user without rights.
	ErrCredentials = errors.New("Redis refuses the user: check user and password, and let it use EVALSHA, EVAL, SCRIPT LOAD, TIME and the commands of hashes on the prefix")
	// ErrReadOnly: the node is a replica.
	ErrReadOnly = errors.New("the node is a read-only replica: connect to the primary, by redis.NewFailoverClient (Sentinel) or redis.NewClusterClient")
	// ErrFull: the memory is full.
	ErrFull = errors.New("the memory of Redis is full: raise maxmemory, or lower the retention")
	// ErrEviction: the server evicts keys.
	ErrEviction = errors.New("Redis evicts keys when its memory is full, and the effect of a key whose record was evicted can happen again: set maxmemory-policy noeviction, put Redis in front of a database (store/tiered), or set AllowEviction")
	// ErrClusterClient: a node of a Cluster, and a client for one node.
	ErrClusterClient = errors.New("the server is a node of a Cluster: connect with redis.NewClusterClient")
)

// named puts the name of the cause into an error of the client.
func named(action string, err error) error {
	if err == nil {
		return nil
	}
	if name := nameOf(err); name != nil && !errors.Is(err, name) {
		return fmt.Errorf("%s: %w (%w)", action, name, err)
	}
	return fmt.Errorf("%s: %w", action, err)
}

// nameOf goes by the word that an error of the server begins with; one that a script ran into has it within.
func nameOf(err error) error {
	var reply redis.Error
	if !errors.As(err, &reply) {
		return nil
	}
	text := reply.Error()
	for _, known := range [...]struct {
		word string
		name error
	}{
		{"NOAUTH", ErrCredentials}, {"WRONGPASS", ErrCredentials}, {"NOPERM", ErrCredentials},
		{"READONLY", ErrReadOnly}, {"OOM", ErrFull}, {"MOVED", ErrClusterClient}, {"CROSSSLOT", ErrTwoSlots},
	} {
		if strings.HasPrefix(text, known.word) || strings.HasPrefix(text, "ERR "+known.word) || strings.Contains(text, "-"+known.word+" ") {
			return known.name
		}
	}
	return nil
}
