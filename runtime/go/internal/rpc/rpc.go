// Package rpc is what idemgrpc and idemconnect share: how a request's content is told from another's, what is
// kept of a response, and how a call that does not run is answered. Codes are gRPC's numbers, which Connect has
// too.
package rpc

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/replay"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// errNoProto says that a message is none of protobuf.
var errNoProto = errors.New("the message is no protobuf message: calls of other codecs cannot be guarded")

// fingerprintOf is that of a request. The bytes of a message may differ between builds that know different fields
// of it, so the fingerprints of two schemas are not comparable: a release in progress rejects nothing.
func fingerprintOf(method string, request any) (string, error) {
	m, ok := request.(proto.Message)
	if !ok {
		return "", errNoProto
	}
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	replay.WritePart(h.Write, []byte(method))
	replay.WritePart(h.Write, bytes)
	return replay.Fingerprint(template(m.ProtoReflect().Descriptor()), h.Sum(nil)), nil
}

var templates sync.Map // protoreflect.MessageDescriptor to uint32

// template is a hash of a message's schema: its file and those that it imports.
func template(d protoreflect.MessageDescriptor) uint32 {
	if t, ok := templates.Load(d); ok {
		return t.(uint32)
	}
	files := map[string]protoreflect.FileDescriptor{}
	collect(files, d.ParentFile())
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	text := []byte("idem rpc v1: " + string(d.FullName()))
	for _, name := range names {
		text, _ = proto.MarshalOptions{Deterministic: true}.MarshalAppend(text, protodesc.ToFileDescriptorProto(files[name]))
	}
	t := idem.TemplateHash(string(text))
	templates.Store(d, t)
	return t
}

func collect(files map[string]protoreflect.FileDescriptor, f protoreflect.FileDescriptor) {
	if f == nil || files[f.Path()] != nil {
		return
	}
	files[f.Path()] = f
	for i := range f.Imports().Len() {
		collect(files, f.Imports().Get(i).FileDescriptor)
	}
}

// IsSafe says of a method, "/shop.v1.Payments/Get", that it asks for no effect: its schema says
// NO_SIDE_EFFECTS, or it is one of gRPC's own, such as health and reflection.
func IsSafe(method string) bool {
	name := strings.TrimPrefix(method, "/")
	if strings.HasPrefix(name, "grpc.") {
		return true
	}
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.Replace(name, "/", ".", 1)))
	if err != nil {
		return false
	}
	options, ok := d.Options().(*descriptorpb.MethodOptions)
	return ok && options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS
}

// The gRPC codes that are meant below.
const (
	codeInvalidArgument    = 3
	codePermissionDenied   = 7
	codeFailedPrecondition = 9
	codeAborted            = 10
	codeUnimplemented      = 12
	codeInternal           = 13
	codeUnavailable        = 14
	codeUnauthenticated    = 16
)

// isKept says of a code whether later calls get the same answer: it will be the same at the next call. It is not
// for what says "not now", "not you" or "not in this version".
func isKept(code uint32) bool {
	switch code {
	case codePermissionDenied, codeUnimplemented, codeUnauthenticated:
		return false
	}
	outcome, err := idem.ClassifyGRPC(int32(code))
	return err == nil && (outcome == idem.OutcomeOK || outcome == idem.OutcomeNonRetryable)
}
