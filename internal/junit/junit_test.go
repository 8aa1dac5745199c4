package junit

import (
	"strings"
	"testing"
	"time"
)

func TestWhatXMLCannotHoldIsReplaced(t *testing.T) {
	t.Parallel()
	took := Seconds(1500 * time.Millisecond)
	s := Suites{Name: "a<b", Tests: 1, Time: took, Suites: []Suite{{Name: "s", Tests: 1, Time: &took, Cases: []Case{
		{Class: "c", Name: "n\x00\xff", Failure: &Message{Message: "\x1b[31m", Text: "line\nline\uFFFE"}, Out: "out\x07"},
	}}}}
	var b strings.Builder
	if err := Write(&b, s); err != nil {
		t.Fatal(err)
	}
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="a&lt;b" tests="1" failures="0" skipped="0" time="1.500">
  <testsuite name="s" tests="1" failures="0" errors="0" skipped="0" time="1.500">
    <testcase classname="c" name="n` + "\uFFFD\uFFFD" + `">
      <failure message="` + "\uFFFD" + `[31m">line&#xA;line` + "\uFFFD" + `</failure>
      <system-out>out` + "\uFFFD" + `</system-out>
    </testcase>
  </testsuite>
</testsuites>
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
