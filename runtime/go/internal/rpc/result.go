package rpc

import (
	"fmt"

	"github.com/idem-spec/idem/runtime/go/store"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// The forms of a result, its first byte.
const (
	formMessage  = 1 // an Any with the response
	formStatus   = 2 // a google.rpc.Status
	formTooLarge = 3 // the call succeeded
)

// resultOf is what is kept of a call: its response, or its status where it has one.
func resultOf(response any, status *statuspb.Status) []byte {
	if status != nil {
		if b, err := proto.Marshal(status); err == nil && len(b) < store.MaxResult {
			return append([]byte{formStatus}, b...)
		}
		b, _ := proto.Marshal(&statuspb.Status{Code: status.GetCode(), Message: cut(status.GetMessage())})
		return append([]byte{formStatus}, b...)
	}
	if m, ok := response.(proto.Message); ok {
		if a, err := anypb.New(m); err == nil {
			if b, err := proto.Marshal(a); err == nil && len(b) < store.MaxResult {
				return append([]byte{formMessage}, b...)
			}
		}
	}
	return []byte{formTooLarge}
}

// cut leaves the beginning of a message that is too large.
func cut(s string) string { return fmt.Sprintf("%.1024s", s) }

// again is the response or the status of a result that was kept.
func again(result []byte) (proto.Message, *statuspb.Status) {
	form := byte(0)
	if len(result) > 0 {
		form = result[0]
	}
	switch form {
	case formMessage:
		a := new(anypb.Any)
		err := proto.Unmarshal(result[1:], a)
		if err == nil {
			var m proto.Message
			if m, err = a.UnmarshalNew(); err == nil {
				return m, nil
			}
		}
		return nil, refusal(codeInternal, "RECORD_UNREAD", "the call was carried out, and its response cannot be read: "+err.Error(), 0)
	case formStatus:
		s := new(statuspb.Status)
		if err := proto.Unmarshal(result[1:], s); err == nil && s.GetCode() != 0 {
			return nil, s
		}
	case formTooLarge:
		return nil, refusal(codeFailedPrecondition, "RESPONSE_GONE", "the call was carried out, and its response was too large to keep: read the result from where it can be read", 0)
	}
	return nil, refusal(codeInternal, "RECORD_UNREAD", "the call was carried out, and its record was written by another version of the service", 0)
}
