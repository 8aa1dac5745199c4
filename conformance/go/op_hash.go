package main

import "github.com/idem-spec/idem/runtime/go/idem"

func opHash(in *object, out *output) error {
	data := in.hex("hex")
	if !in.ok() {
		return errInput
	}
	return out.plain("xxh64", func(dst []byte) ([]byte, error) {
		return idem.AppendHash(dst, idem.HashBytes(data)), nil
	})
}

func opShard(in *object, out *output) error { return route(in, out, "shard", idem.Shard, idem.ShardOf) }
func opLane(in *object, out *output) error  { return route(in, out, "lane", idem.Lane, idem.LaneOf) }

// route answers for a key, or for a hash that is there already.
func route(in *object, out *output, name string,
	ofKey func(string, int32) (int32, error), ofHash func(uint64, int32) int32,
) error {
	var key string
	var hash uint64
	hashed := in.has("hash")
	if hashed {
		b := in.hex("hash")
		in.bad = in.bad || len(b) != 8
		for _, c := range b {
			hash = hash<<8 | uint64(c)
		}
	} else {
		key = in.text("key")
	}
	n := decodePlaces(in)
	if !in.ok() {
		return errInput
	}
	if hashed {
		if n < 1 {
			_, err := ofKey("-", n)
			return err
		}
		out.integer(name, int64(ofHash(hash, n)))
		return nil
	}
	place, err := ofKey(key, n)
	out.integer(name, int64(place))
	return err
}

// decodePlaces is n, and 0 where it is no int32, which is as wrong.
func decodePlaces(in *object) int32 {
	n, fits := in.integer("n").int32()
	if !fits {
		return 0
	}
	return n
}

func opKafkaPartition(in *object, out *output) error {
	key, n := in.text("key"), decodePlaces(in)
	if !in.ok() {
		return errInput
	}
	partition, err := idem.KafkaPartition(key, n)
	out.integer("partition", int64(partition))
	return err
}
