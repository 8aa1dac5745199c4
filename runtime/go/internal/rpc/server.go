package rpc

import (
	"context"

	"github.com/idem-spec/idem/runtime/go/internal/replay"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
)

// Server is what the servers' interceptors share. Make it with NewServer.
type Server struct {
	engine replay.Engine
	keep   func(code uint32) bool
}

// NewServer makes a Server. name is the package in the error; keep may be nil.
func NewServer(name string, engine replay.Engine, keep func(code uint32) bool) (*Server, error) {
	if keep == nil {
		keep = isKept
	}
	s := &Server{engine: engine, keep: keep}
	return s, s.engine.Check(name)
}

// Call is one call of a method that is guarded.
type Call struct {
	Method    string   // "/shop.v1.Payments/Pay"
	Keys      []string // the values of the metadata
	Request   any
	Principal func() (string, error)
	// Run calls the handler, whose context has the key, and says what it answered: a response, or a status.
	Run func(ctx context.Context) (response any, failure *statuspb.Status)
}

// Answer is what a call is answered; where it Ran, with what Run said.
type Answer struct {
	Ran, Replayed bool
	Response      proto.Message
	Status        *statuspb.Status
}

// Do runs a call where its key is new.
func (s *Server) Do(ctx context.Context, c *Call) Answer {
	call, refused := callOf(c)
	if refused != nil {
		return Answer{Status: refused}
	}
	answer := s.engine.Do(ctx, call, func(ctx context.Context) ([]byte, bool) {
		response, failure := c.Run(replay.WithKey(ctx, call.Key))
		return resultOf(response, failure), s.keep(uint32(failure.GetCode()))
	})
	switch answer.Kind {
	case replay.Ran:
		return Answer{Ran: true}
	case replay.Replayed:
		response, failure := again(answer.Result)
		return Answer{Replayed: true, Response: response, Status: failure}
	}
	return Answer{Status: refusalOf(answer)}
}

// callOf is the call that a request is, or why it is none.
func callOf(c *Call) (*replay.Call, *statuspb.Status) {
	if len(c.Keys) == 0 {
		return nil, keyMissing()
	}
	key, err := replay.ParseKey(c.Keys)
	if err != nil {
		return nil, keyMalformed(err)
	}
	principal, err := c.Principal()
	if err != nil || principal == "" {
		return nil, nobody()
	}
	fingerprint, err := fingerprintOf(c.Method, c.Request)
	if err != nil {
		return nil, unreadable(err)
	}
	return &replay.Call{Key: key, Principal: principal, Route: c.Method, Fingerprint: fingerprint}, nil
}
