package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	shopv1 "github.com/idem-spec/idem/bench/go/gen/shop/v1"
	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/messages"
	"github.com/idem-spec/idem/internal/lint/messages/input"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/internal/source"
)

// checker is `idem check` as the command runs it.
type checker struct {
	set     *schema.Set
	payment *schema.Message
}

func newChecker() (*checker, error) {
	read, err := source.Read(context.Background(), "examples/shop/proto")
	if err != nil {
		return nil, err
	}
	set, problems := schema.Build(read.All, read.Paths)
	if len(problems) > 0 {
		return nil, errors.New(schema.Report(problems))
	}
	return &checker{set, set.Message("shop.v1.PaymentSucceeded")}, nil
}

func (c *checker) delimited(file string) error { return c.check(file, input.Options{Delimited: true}) }
func (c *checker) bare(file string) error      { return c.check(file, input.Options{Bare: true}) }
func (c *checker) lines(file string) error     { return c.check(file, input.Options{}) }

func (c *checker) check(file string, o input.Options) error {
	o.MaxMessage = input.DefaultMaxMessage
	reader, err := input.Files([]string{file}, nil, o)
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }()
	_, err = messages.Run(context.Background(), reader, messages.Options{
		Set: c.set, Type: c.payment, MaxPayload: messages.DefaultMaxPayload, Memory: messages.DefaultMemory,
		Wanted: func(*lint.Rule) bool { return true },
		Report: func(_ uint64, f lint.Finding) error { return fmt.Errorf("a finding: %s: %s", f.Rule.ID, f.What) },
	})
	return err
}

// delimitedFile decodes each message of a file.
func delimitedFile(decode func([]byte) error) func(string) error {
	return func(name string) error {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		r := bufio.NewReaderSize(file, 128<<10)
		var buffer []byte
		for {
			n, err := binary.ReadUvarint(r)
			if errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if uint64(cap(buffer)) < n {
				buffer = make([]byte, n)
			}
			if _, err := io.ReadFull(r, buffer[:n]); err != nil {
				return err
			}
			if err := decode(buffer[:n]); err != nil {
				return err
			}
		}
	}
}

// lineFile decodes each line of a file.
func lineFile(decode func([]byte) error) func(string) error {
	return func(name string) error {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		lines := bufio.NewScanner(bufio.NewReaderSize(file, 128<<10))
		for lines.Scan() {
			if err := decode(bytes.TrimSpace(lines.Bytes())); err != nil {
				return err
			}
		}
		return lines.Err()
	}
}

// Each decoder has one message, which it fills again and again: the least that decoding takes.

func unmarshalGenerated() func([]byte) error {
	var m shopv1.PaymentSucceeded
	return func(b []byte) error { return proto.Unmarshal(b, &m) }
}

func (c *checker) unmarshalDynamic() func([]byte) error {
	m := dynamicpb.NewMessage(c.payment.Desc)
	return func(b []byte) error { return proto.Unmarshal(b, m) }
}

func jsonGenerated() func([]byte) error {
	var m shopv1.PaymentSucceeded
	return func(b []byte) error { return protojson.Unmarshal(b, &m) }
}

func (c *checker) jsonDynamic() func([]byte) error {
	m := dynamicpb.NewMessage(c.payment.Desc)
	return func(b []byte) error { return protojson.Unmarshal(b, m) }
}
