package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oneGroup makes a directory whose one group has this text.
func oneGroup(text string, count int) fstest.MapFS {
	sum := sha256.Sum256([]byte(text))
	m, _ := json.Marshal(manifest{Spec: "1", Groups: []manifestGroup{
		{Group: "g", File: "g.json", Count: count, SHA256: hex.EncodeToString(sum[:])},
	}})
	return fstest.MapFS{ManifestFile: {Data: m}, "g.json": {Data: []byte(text)}}
}

const goodVector = `{"id":"a","op":"uuid","spec":["TXT-060"],"input":{"text":"x"},"result":"invalid","error":"UUID_SYNTAX"}`

func TestLoadChecksTheManifest(t *testing.T) {
	t.Parallel()
	suite, err := Load(testFS(20))
	require.NoError(t, err)
	assert.Equal(t, []string{"decimal", "uuid"}, suite.Names())
	assert.Len(t, suite.All(), 30)

	touched := testFS(20)
	touched["uuid.json"].Data = append(touched["uuid.json"].Data, ' ')
	_, err = Load(touched)
	assert.ErrorContains(t, err, "the manifest says")

	gone := testFS(20)
	delete(gone, "uuid.json")
	_, err = Load(gone)
	assert.ErrorContains(t, err, `group "uuid"`)

	_, err = Load(fstest.MapFS{})
	assert.ErrorContains(t, err, "manifest")
	_, err = Load(fstest.MapFS{ManifestFile: {Data: []byte(`{"groups":[]}`)}})
	assert.ErrorContains(t, err, "names no group")
	_, err = Load(oneGroup("["+goodVector+"]", 2))
	assert.ErrorContains(t, err, "has 1 vectors, the manifest says 2")
	_, err = Load(oneGroup("["+goodVector+","+goodVector+"]", 2))
	assert.ErrorContains(t, err, `the id "a"`)
}

func TestVectorsThatAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"id":"a","op":"o","spec":["S"],"input":{},"result":"valid"}`:                                    "an invalid one an error",
		`{"id":"a","op":"o","spec":["S"],"input":{},"result":"valid","output":{},"error":"X"}`:            "an invalid one an error",
		`{"id":"a","op":"o","spec":["S"],"input":{},"result":"invalid","output":{}}`:                      "an invalid one an error",
		`{"id":"a","op":"o","spec":["S"],"input":{},"result":"maybe","output":{}}`:                        "an invalid one an error",
		`{"id":"a","op":"o","spec":[],"input":{},"result":"invalid","error":"X"}`:                         "lacks one of",
		`{"id":"","op":"o","spec":["S"],"input":{},"result":"invalid","error":"X"}`:                       "lacks one of",
		`{"id":"a","id":"b","op":"o","spec":["S"],"input":{},"result":"invalid","error":"X"}`:             `two members "id"`,
		`{"id":"a","op":1,"spec":["S"],"input":{},"result":"invalid","error":"X"}`:                        "op is of another type",
		`{"id":"a","op":"o","spec":["S"],"input":[],"result":"invalid","error":"X"}`:                      "input is of another type",
		`{"id":"a","op":"o","spec":["S"],"result":"invalid","error":"X"}`:                                 "lacks one of",
		`{"id":"a","op":"o","spec":["S"],"input":{},"result":"invalid","error":"X","errors":1}`:           `a member "errors"`,
		`{"id":"a","op":"o","spec":["S"],"input":{"text":"\ud800"},"result":"invalid","error":"X"}`:       "half a surrogate pair",
		`{"id":"a","op":"o","spec":["S"],"input":{"text":"a","text":"b"},"result":"invalid","error":"X"}`: `two members "text"`,
		`{"id":"a","op":"o","spec":["S"],"input":{},"result":"valid","output":{"text":"a","text":"b"}}`:   `two members "text"`,
		`[]`: "no '{'",
	} {
		_, err := parseVectors("g", []byte("["+text+"]"))
		assert.ErrorContains(t, err, want, text)
	}
}

func TestKnownFailuresFile(t *testing.T) {
	t.Parallel()
	known, err := ParseKnownFailures([]byte("# a list\n[[known_failure]]\ncase = 'a-*'\nreason = 'later'\n"))
	require.NoError(t, err)
	assert.Equal(t, []KnownFailure{{Case: "a-*", Reason: "later"}}, known)

	known, err = ParseKnownFailures(nil)
	require.NoError(t, err)
	assert.Empty(t, known)

	for text, want := range map[string]string{
		"[[known_failure]]\ncase = 'a'":                                                            "has no reason",
		"[[known_failure]]\ncase = 'a'\nreason = ' '":                                              "has no reason",
		"[[known_failure]]\nreason = 'a'":                                                          "has no case",
		"[[known_failure]]\ncase = '[a'\nreason = 'b'":                                             "the glob",
		"[[known_failure]]\ncase = 'a'\nreason = 'b'\nuntil = 'c'":                                 "the key",
		"[[known_failures]]\ncase = 'a'\nreason = 'b'":                                             "the key",
		"[[known_failure]]\ncase = 'a'\nreason = 'b'\n[[known_failure]]\ncase = 'a'\nreason = 'c'": "there twice",
		"[[known_failure]]\ncase = a":                                                              "line 2",
	} {
		_, err := ParseKnownFailures([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}
