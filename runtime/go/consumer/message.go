package consumer

import (
	"google.golang.org/protobuf/proto"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// Message is a generated message that has an event type: a pointer to a struct that protoc-gen-go and
// protoc-gen-idem made of a message with the option idem.v1.message. Where the compiler says "missing method
// IdemEventType", annotate the message with that option and run buf generate.
type Message interface {
	proto.Message
	IdemEventType() string
}

// pointer is what a handler takes: *M, which is a Message. It is what lets a handler's message be made
// without reflection.
type pointer[M any] interface {
	*M
	Message
}

// What else the plugin generates for a message, each where its schema has it.
type (
	keyed        interface{ IdemKey() (string, error) }
	withBizKey   interface{ IdemBizKey() (string, error) }
	withPolicy   interface{ IdemPolicy() idem.Policy }
	withMachine  interface{ IdemTransition() idem.Transition }
	withVerdicts interface {
		IdemVerdict(current string) (idem.Verdict, error)
	}
)
