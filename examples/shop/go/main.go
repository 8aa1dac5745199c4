// Command go reads the shop's events and prints what the payments service, in Go, makes of each: the same
// lines as orders in Java and notifications in Python.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	shopv1 "github.com/idem-spec/idem/examples/shop/go/shop/v1"
	"github.com/idem-spec/idem/runtime/go/idem"
)

const partitions = 12

// annotated is what protoc-gen-idem adds to every message with (idem.v1.message).
type annotated interface {
	proto.Message
	IdemKey() (string, error)
	IdemHeaders(idem.Context) (idem.Headers, error)
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	scanner := bufio.NewScanner(os.Stdin)
	for n := 1; scanner.Scan(); n++ {
		if err := show(out, n, scanner.Bytes()); err != nil {
			fmt.Fprintf(os.Stderr, "event %d: %v\n", n, err)
			os.Exit(1)
		}
	}
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func show(out *bufio.Writer, n int, line []byte) error {
	var event struct {
		Type    string
		Message json.RawMessage
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return err
	}
	m, err := read(event.Type, event.Message)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "event %d %s\n", n, event.Type)
	headers, err := m.IdemHeaders(idem.Context{EventID: fmt.Sprintf("01941f29-7c00-7000-8000-%012d", n), Topic: "shop"})
	if err != nil {
		fmt.Fprintf(out, "  error %s\n", idem.CodeOf(err))
		return nil
	}
	for _, h := range headers {
		fmt.Fprintf(out, "  header %s: %s\n", h.Name, h.Value)
	}
	if keyed, ok := m.(interface {
		IdemKafkaPartition(int32) (int32, error)
	}); ok {
		partition, err := keyed.IdemKafkaPartition(partitions)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  partition %d of %d\n", partition, partitions)
	}
	delays, err := delays(m)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  delays %s ms\n", delays)
	return nil
}

// delays are those of the first five retries.
func delays(m annotated) (string, error) {
	policy := idem.DefaultPolicy()
	if own, ok := m.(interface{ IdemPolicy() idem.Policy }); ok {
		policy = own.IdemPolicy()
	}
	key, err := m.IdemKey()
	if err != nil {
		return "", err
	}
	var texts []string
	for retry := int32(0); retry < 5; retry++ {
		d, err := idem.Backoff(key, retry, &policy, 0)
		if err != nil {
			return "", err
		}
		texts = append(texts, fmt.Sprint(d.Ms()))
	}
	return strings.Join(texts, " "), nil
}

func read(name string, message []byte) (annotated, error) {
	var m annotated
	switch name {
	case "shop.v1.OrderCreated":
		m = new(shopv1.OrderCreated)
	case "shop.v1.PaymentSucceeded":
		m = new(shopv1.PaymentSucceeded)
	case "shop.v1.RefundRequested":
		m = new(shopv1.RefundRequested)
	case "shop.v1.NotificationSent":
		m = new(shopv1.NotificationSent)
	default:
		return nil, fmt.Errorf("no message %s", name)
	}
	return m, protojson.Unmarshal(message, m)
}
