package bench

import (
	"crypto/sha256"

	"github.com/mitchellh/hashstructure/v2"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// What teams hash where they have no key: the whole message. Each has a buffer at hand, as the key has.

func peerProtoJSON(dst []byte, m proto.Message) ([]byte, [sha256.Size]byte, error) {
	dst, err := protojson.MarshalOptions{}.MarshalAppend(dst, m)
	return dst, sha256.Sum256(dst), err
}

func peerWire(dst []byte, m proto.Message) ([]byte, [sha256.Size]byte, error) {
	dst, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(dst, m)
	return dst, sha256.Sum256(dst), err
}

func peerStruct(m proto.Message) (uint64, error) {
	return hashstructure.Hash(m, hashstructure.FormatV2, nil)
}
