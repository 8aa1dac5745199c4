package rpc

import (
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/replay"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
)

// domain is that of the ErrorInfo in a refusal.
const domain = "idem"

// refusal answers a call that does not run, or whose response cannot be given: code, words that say what to do,
// an ErrorInfo with the reason, and a RetryInfo where there is a time to wait.
func refusal(code int32, reason, message string, wait time.Duration) *statuspb.Status {
	s := &statuspb.Status{Code: code, Message: message}
	if detail, err := anypb.New(&errdetails.ErrorInfo{Reason: reason, Domain: domain}); err == nil {
		s.Details = append(s.Details, detail)
	}
	if wait > 0 {
		if detail, err := anypb.New(&errdetails.RetryInfo{RetryDelay: durationpb.New(wait)}); err == nil {
			s.Details = append(s.Details, detail)
		}
	}
	return s
}

// keyMissing refuses a call without a key.
func keyMissing() *statuspb.Status {
	return refusal(codeInvalidArgument, "KEY_MISSING", "an idempotency key is needed: send the metadata idempotency-key, one key for one intent", 0)
}

// keyMalformed refuses a call whose key cannot be read.
func keyMalformed(err error) *statuspb.Status {
	return refusal(codeInvalidArgument, string(idem.CodeOf(err)), err.Error()+": a key is 1 to 1024 visible ASCII characters without a blank", 0)
}

// nobody refuses a call of nobody.
func nobody() *statuspb.Status {
	return refusal(codeUnauthenticated, "PRINCIPAL_MISSING", "it is not known who calls: authenticate, then call again with the same key", 0)
}

// unreadable refuses a call whose request is no message.
func unreadable(err error) *statuspb.Status {
	return refusal(codeInternal, "REQUEST_UNREAD", err.Error(), 0)
}

// refusalOf answers a call that did not run.
func refusalOf(a replay.Answer) *statuspb.Status {
	switch a.Kind {
	case replay.InProgress, replay.Fenced:
		return refusal(codeAborted, "IN_PROGRESS", "a call with this key is being carried out: call again with the same key after the retry delay, to get its response", a.Wait)
	case replay.KeyReused:
		return refusal(codeFailedPrecondition, "KEY_REUSED", "the key was used for another request: send what was sent then, or use a new key for a new intent", 0)
	case replay.CrashLoop:
		return refusal(codeFailedPrecondition, "CRASH_LOOP", "the call ended without a word, again and again, and is no longer carried out: tell the service's operators its key", 0)
	}
	return refusal(codeUnavailable, "STORE_UNAVAILABLE", "the record of keys does not answer and nothing was carried out: call again with the same key after the retry delay", a.Wait)
}

// RetryDelay is what a status asks to wait; 0 where it does not.
func RetryDelay(s *statuspb.Status) time.Duration {
	for _, detail := range s.GetDetails() {
		info := new(errdetails.RetryInfo)
		if detail.MessageIs(info) && detail.UnmarshalTo(info) == nil && info.GetRetryDelay().IsValid() {
			return max(info.GetRetryDelay().AsDuration(), 0)
		}
	}
	return 0
}
