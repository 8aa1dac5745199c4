//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// servers are those of scripts/services, in a directory of the test's own.
type servers struct {
	script, home string
	mu           sync.Mutex
	guardian     *os.Process
	alive        io.Closer // the guardian ends the servers once it is closed
}

var serverNames = []string{"standby", "redis", "kafka-cluster"}

// startServers starts them anew, and sets the environment that the roles read.
func startServers(ctx context.Context, o *options) (*servers, error) {
	home, err := filepath.Abs(o.home)
	if err != nil {
		return nil, err
	}
	script, err := filepath.Abs(o.services)
	if err != nil {
		return nil, err
	}
	s := &servers{script: script, home: home}
	if err := s.watch(); err != nil {
		return nil, err
	}
	if _, err := s.run(ctx, append([]string{"stop"}, serverNames...)...); err != nil {
		return nil, err
	}
	if _, err := s.run(ctx, append([]string{"start"}, serverNames...)...); err != nil {
		return nil, err
	}
	lines, err := s.run(ctx, append([]string{"env"}, serverNames...)...)
	if err != nil {
		return nil, err
	}
	for scanner := bufio.NewScanner(strings.NewReader(lines)); scanner.Scan(); {
		name, value, ok := strings.Cut(strings.TrimPrefix(scanner.Text(), "export "), "=")
		if ok {
			if err := os.Setenv(name, strings.ReplaceAll(value, `\`, "")); err != nil { // what bash's %q adds
				return nil, err
			}
		}
	}
	for _, name := range []string{"STANDBY_URL", "REDIS_URL", "KAFKA_CLUSTER_BROKERS"} {
		if os.Getenv(name) == "" {
			return nil, fmt.Errorf("start the servers: %s is not in the answer of %s env:\n%s", name, script, lines)
		}
	}
	return s, nil
}

// run runs scripts/services. It is one at a time, as the script itself sees to.
func (s *servers) run(ctx context.Context, arguments ...string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, s.script, arguments...)
	command.Env = s.environment()
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is ours to handle
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	// A server inherits no pipe, but what a script leaves behind must not hold us up.
	command.WaitDelay = 5 * time.Second
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("scripts/services %s: %w\n%s", strings.Join(arguments, " "), err, errs.String())
	}
	return out.String(), nil
}

// environment has no servers of anybody's: ours are to be started, and killed.
func (s *servers) environment() []string {
	var rest []string
	for _, line := range os.Environ() {
		switch name, _, _ := strings.Cut(line, "="); name {
		case "DATABASE_URL", "STANDBY_URL", "REDIS_URL", "KAFKA_BROKERS", "KAFKA_CLUSTER_BROKERS", "SERVICES_HOME":
		default:
			rest = append(rest, line)
		}
	}
	return append(rest, "SERVICES_HOME="+s.home)
}

// watch starts a process that outlives the driver, where the driver is killed, and ends the servers then.
func (s *servers) watch() error {
	self, err := executable()
	if err != nil {
		return err
	}
	command := exec.Command(self, "watchdog", s.script, s.home)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := command.StdinPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	s.guardian, s.alive = command.Process, pipe
	return nil
}

// stop ends the servers, or leaves them to whoever wants to look into the ledger.
func (s *servers) stop(keep bool) error {
	if keep {
		if err := s.guardian.Kill(); err != nil {
			return err
		}
		fmt.Printf("the servers go on; STANDBY_URL=%q\nend them by: SERVICES_HOME=%s scripts/services stop\n", os.Getenv("STANDBY_URL"), s.home)
		return nil
	}
	_, err := s.run(context.Background(), append([]string{"stop"}, serverNames...)...)
	s.alive.Close()
	_, _ = s.guardian.Wait()
	return err
}

// watchdog waits for the end of its driver, and ends the servers.
func watchdog(arguments []string) {
	_, _ = io.Copy(io.Discard, os.Stdin)
	s := &servers{script: arguments[0], home: arguments[1]}
	if _, err := s.run(context.Background(), append([]string{"stop"}, serverNames...)...); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// createTopics waits for a cluster that has them on all of its brokers.
func createTopics(ctx context.Context) error {
	client := &kafkago.Client{Addr: kafkago.TCP(strings.Split(os.Getenv("KAFKA_CLUSTER_BROKERS"), ",")...), Timeout: 10 * time.Second}
	var topics []kafkago.TopicConfig
	for topic := range groupOf {
		for i, name := range topicsOf(topic) {
			topics = append(topics, kafkago.TopicConfig{Topic: name, NumPartitions: []int{partitions, retryPartitions}[i], ReplicationFactor: 3})
		}
	}
	for {
		answer, err := client.CreateTopics(ctx, &kafkago.CreateTopicsRequest{Topics: topics})
		if err == nil {
			done := true
			for name, e := range answer.Errors {
				if e != nil && e != kafkago.TopicAlreadyExists {
					done, err = false, fmt.Errorf("create topic %s: %w", name, e)
				}
			}
			if done {
				return nil
			}
		}
		if ctx.Err() != nil {
			return err
		}
		sleep(ctx, time.Second)
	}
}
