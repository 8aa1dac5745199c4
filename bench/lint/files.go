package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	shopv1 "github.com/idem-spec/idem/bench/go/gen/shop/v1"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// files are the same messages three times.
type files struct{ delimited, bare, lines string }

func write(dir string, n int) (files, error) {
	f := files{filepath.Join(dir, "payments.binpb"), filepath.Join(dir, "payments.ndjson"), filepath.Join(dir, "messages.ndjson")}
	for _, kind := range []struct {
		name   string
		append func([]byte, *shopv1.PaymentSucceeded) ([]byte, error)
	}{{f.delimited, appendDelimited}, {f.bare, appendBare}, {f.lines, appendLine}} {
		if err := writeFile(kind.name, n, kind.append); err != nil {
			return f, err
		}
	}
	return f, nil
}

func writeFile(name string, n int, appendTo func([]byte, *shopv1.PaymentSucceeded) ([]byte, error)) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	var buffer []byte
	for i := range n {
		if buffer, err = appendTo(buffer[:0], payment(i)); err != nil {
			return err
		}
		if _, err := w.Write(buffer); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}

// payment is the shop's message; one in a hundred is a copy of another.
func payment(i int) *shopv1.PaymentSucceeded {
	if i%100 == 99 {
		i -= 50
	}
	return &shopv1.PaymentSucceeded{
		OrderId: fmt.Sprintf("order-%d", i/3), Amount: fmt.Sprintf("%d.95", 100+i%900), Currency: "EUR",
		OccurredAt: &timestamppb.Timestamp{Seconds: 1735704000 + int64(i), Nanos: 123000000},
		PaymentId:  fmt.Sprintf("pay_01JGFJJZ008K2V%09d", i),
	}
}

func appendDelimited(dst []byte, m *shopv1.PaymentSucceeded) ([]byte, error) {
	dst = binary.AppendUvarint(dst, uint64(proto.Size(m)))
	return proto.MarshalOptions{}.MarshalAppend(dst, m)
}

func appendBare(dst []byte, m *shopv1.PaymentSucceeded) ([]byte, error) {
	dst, err := protojson.MarshalOptions{}.MarshalAppend(dst, m)
	return append(dst, '\n'), err
}

// appendLine is a message with the headers that generated code gives.
func appendLine(dst []byte, m *shopv1.PaymentSucceeded) ([]byte, error) {
	all, err := m.IdemHeaders(idem.Context{
		EventID: "event-" + m.GetPaymentId(), Topic: "payments", ProducedAt: m.GetOccurredAt().AsTime().Add(time.Second),
	})
	if err != nil {
		return dst, err
	}
	headers := map[string]string{}
	for _, h := range all {
		headers[h.Name] = string(h.Value)
	}
	value, err := protojson.Marshal(m)
	if err != nil {
		return dst, err
	}
	line, err := json.Marshal(map[string]any{"topic": "payments", "headers": headers, "key": m.GetOrderId(), "value": json.RawMessage(value)})
	return append(append(dst, line...), '\n'), err
}
