package main

import (
	"math"

	"github.com/idem-spec/idem/runtime/go/idem"
)

func opClassify(in *object, out *output) error {
	if len(in.members) != 1 {
		return errInput
	}
	var classify func() (idem.Outcome, error)
	switch name := in.members[0].name; name {
	case "http":
		status := in.integer(name).nearest32()
		classify = func() (idem.Outcome, error) { return idem.ClassifyHTTP(int(status)) }
	case "grpc":
		code, fits := in.integer(name).int32()
		in.bad = in.bad || !fits
		classify = func() (idem.Outcome, error) { return idem.ClassifyGRPC(code) }
	case "kafka":
		code := in.integer(name).nearest32()
		in.bad = in.bad || code < math.MinInt16 || code > math.MaxInt16
		classify = func() (idem.Outcome, error) { return idem.ClassifyKafka(int16(code)), nil }
	case "sqlstate":
		code := in.text(name)
		classify = func() (idem.Outcome, error) { return idem.ClassifySQLState(code) }
	case "net":
		word := in.text(name)
		classify = func() (idem.Outcome, error) { return idem.ClassifyNet(word) }
	}
	if !in.ok() {
		return errInput
	}
	class, err := classify()
	out.text("class", class.String())
	return err
}
