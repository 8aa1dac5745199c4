package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Check asks the server whether it is one that records can be left with. Its errors wrap ErrCredentials,
// ErrReadOnly, ErrEviction or ErrClusterClient.
func (s *Store) Check(ctx context.Context) error {
	return named("check redis", s.check(ctx))
}

func (s *Store) check(ctx context.Context) error {
	if err := s.client.Ping(ctx).Err(); err != nil {
		return err
	}
	info, err := s.client.Info(ctx).Result()
	if err != nil {
		return err
	}
	if err := s.accepts(parseInfo(info)); err != nil {
		return err
	}
	// A script that changes nothing: the rights that claims need, before the first message needs them.
	replies, err := s.run(ctx, &renewScript, []call{{[]string{s.key("check", "check")}, []any{"check", 0, 0, "0"}}})
	if err != nil {
		return err
	}
	if _, err := yes(replies); err != nil {
		return errors.Join(errors.New("scripts do not answer"), err)
	}
	return nil
}

// accepts judges a server by what INFO says. What it does not say is no objection.
func (s *Store) accepts(facts map[string]string) error {
	if version := facts["redis_version"]; version != "" {
		if major, err := strconv.Atoi(strings.SplitN(version, ".", 2)[0]); err == nil && major < 6 {
			return fmt.Errorf("the server is Redis %s, and 6 or later is needed", version)
		}
	}
	if _, single := s.client.(*redis.Client); single && facts["cluster_enabled"] == "1" {
		return ErrClusterClient
	}
	if facts["role"] == "slave" {
		return ErrReadOnly
	}
	policy := facts["maxmemory_policy"]
	if !s.config.AllowEviction && policy != "" && policy != "noeviction" && facts["maxmemory"] != "0" {
		return fmt.Errorf("%w (maxmemory-policy is %s)", ErrEviction, policy)
	}
	return nil
}

// parseInfo reads the lines name:value of INFO.
func parseInfo(info string) map[string]string {
	facts := make(map[string]string)
	for line := range strings.Lines(info) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			facts[name] = value
		}
	}
	return facts
}
