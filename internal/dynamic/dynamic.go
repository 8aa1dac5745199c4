// Package dynamic decodes into messages whose types are known at run time alone.
package dynamic

import (
	"errors"

	"google.golang.org/protobuf/proto"
)

// ErrMapKey says that a map's entry has a second key, of another wire type than the map's, which no encoder writes.
// Generated code passes over such a key, and the decoder of dynamic messages panics.
var ErrMapKey = errors.New("the key of a map's entry is of another type than the map's")

// Guard makes ErrMapKey of that panic.
func Guard(decode func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = ErrMapKey
		}
	}()
	return decode()
}

// Unmarshal is proto.Unmarshal, guarded.
func Unmarshal(data []byte, m proto.Message) error {
	return Guard(func() error { return proto.Unmarshal(data, m) })
}
