package main

import "github.com/idem-spec/idem/runtime/go/idem"

// typed is a value that is decoded and has a canonical text.
type typed interface {
	append(dst []byte) ([]byte, error)
}

// opTyped is the operation of one kind of value.
func opTyped(in *object, out *output, decode func(*object) typed) error {
	v := decode(in)
	if !in.ok() {
		return errInput
	}
	return out.plain("text", v.append)
}

func opDecimal(in *object, out *output) error   { return opTyped(in, out, decodeDecimal) }
func opMoney(in *object, out *output) error     { return opTyped(in, out, decodeMoney) }
func opTimestamp(in *object, out *output) error { return opTyped(in, out, decodeTimestamp) }
func opDuration(in *object, out *output) error  { return opTyped(in, out, decodeDuration) }
func opDate(in *object, out *output) error      { return opTyped(in, out, decodeDate) }
func opUUID(in *object, out *output) error      { return opTyped(in, out, decodeUUID) }

type decimalValue struct {
	text     string
	maxScale int
}

func decodeDecimal(in *object) typed {
	v := decimalValue{maxScale: -1}
	if in.has("hex") {
		v.text = string(in.hex("hex"))
	} else {
		v.text = in.text("text")
	}
	if in.has("max_scale") {
		v.maxScale = in.small("max_scale", 255)
	}
	return v
}

func (v decimalValue) append(dst []byte) ([]byte, error) {
	return idem.AppendDecimal(dst, v.text, v.maxScale)
}

type moneyValue struct {
	currency string
	units    integer
	nanos    integer
}

func decodeMoney(in *object) typed {
	return moneyValue{in.text("currency_code"), in.integer("units"), in.integer("nanos")}
}

func (v moneyValue) append(dst []byte) ([]byte, error) {
	units, fits := v.units.int64()
	nanos := v.nanos.nearest32()
	if !fits {
		// The currency is looked at first; no nanos are right for such units.
		units, nanos = 1, -1
	}
	return idem.AppendMoney(dst, v.currency, units, nanos)
}

// timestampValue has one of its three forms.
type timestampValue struct {
	rfc3339        string
	isText         bool
	seconds, nanos integer
	epoch          integer
	unit           idem.Unit // 0: no epoch
	digits         int
}

var units = map[string]idem.Unit{
	"s": idem.UnitSeconds, "ms": idem.UnitMilliseconds, "us": idem.UnitMicroseconds, "ns": idem.UnitNanoseconds,
}

func decodeTimestamp(in *object) typed {
	var v timestampValue
	switch {
	case in.has("rfc3339"):
		v.rfc3339, v.isText = in.text("rfc3339"), true
	case in.has("epoch"):
		v.epoch = in.integer("epoch")
		unit, known := units[in.text("unit")]
		v.unit = unit
		in.bad = in.bad || !known
	default:
		v.seconds, v.nanos = in.integer("seconds"), in.integer("nanos")
	}
	v.digits = in.small("fraction_digits", 9)
	return v
}

func (v timestampValue) append(dst []byte) ([]byte, error) {
	if v.isText {
		return idem.AppendTimestampText(dst, v.rfc3339, v.digits)
	}
	if v.unit == 0 {
		seconds, _ := v.seconds.int64()
		return idem.AppendTimestamp(dst, seconds, v.nanos.nearest32(), v.digits)
	}
	if n, fits := v.epoch.uint64(); fits {
		return idem.AppendTimestampEpochUint(dst, n, v.unit, v.digits)
	}
	n, fits := v.epoch.int64()
	if !fits {
		return dst, errIntRange
	}
	return idem.AppendTimestampEpoch(dst, n, v.unit, v.digits)
}

type durationValue struct {
	seconds, nanos integer
	digits         int
}

func decodeDuration(in *object) typed {
	return durationValue{in.integer("seconds"), in.integer("nanos"), in.small("fraction_digits", 9)}
}

func (v durationValue) append(dst []byte) ([]byte, error) {
	seconds, _ := v.seconds.int64()
	return idem.AppendDuration(dst, seconds, v.nanos.nearest32(), v.digits)
}

type dateValue struct{ year, month, day integer }

func decodeDate(in *object) typed {
	return dateValue{in.integer("year"), in.integer("month"), in.integer("day")}
}

func (v dateValue) append(dst []byte) ([]byte, error) {
	return idem.AppendDate(dst, v.year.nearest32(), v.month.nearest32(), v.day.nearest32())
}

type uuidValue string

func decodeUUID(in *object) typed { return uuidValue(in.text("text")) }

func (v uuidValue) append(dst []byte) ([]byte, error) { return idem.AppendUUID(dst, string(v)) }
