package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testGroup makes a group's file of n vectors. Every tenth is invalid. Their ids are NAME-0, NAME-1…
func testGroup(name, op string, from, n int) []byte {
	var vectors []map[string]any
	for i := from; i < from+n; i++ {
		v := map[string]any{"id": fmt.Sprintf("%s-%d", name, i), "op": op, "spec": []string{"TXT-001"}}
		if i%10 == 9 {
			v["input"] = map[string]string{"text": "!E" + fmt.Sprint(i)}
			v["result"], v["error"] = "invalid", "E"+fmt.Sprint(i)
		} else {
			v["input"] = map[string]string{"text": fmt.Sprint(i)}
			v["result"], v["output"] = "valid", map[string]string{"text": fmt.Sprint(i)}
		}
		vectors = append(vectors, v)
	}
	data, _ := json.Marshal(vectors)
	return data
}

// testFS makes a directory of vectors: the group decimal with n of them, uuid with ten.
func testFS(n int) fstest.MapFS {
	files := fstest.MapFS{}
	var m manifest
	m.Spec = "1.0.0"
	add := func(name, op string, from, count int) {
		data := testGroup(name, op, from, count)
		sum := sha256.Sum256(data)
		files[name+".json"] = &fstest.MapFile{Data: data}
		m.Groups = append(m.Groups, manifestGroup{Group: name, File: name + ".json", Count: count, SHA256: hex.EncodeToString(sum[:])})
	}
	add("decimal", "decimal", 0, n)
	add("uuid", "uuid", n, 10)
	data, _ := json.Marshal(m)
	files[ManifestFile] = &fstest.MapFile{Data: data}
	return files
}

func testSuite(t testing.TB, n int) *Suite {
	t.Helper()
	suite, err := Load(testFS(n))
	require.NoError(t, err)
	return suite
}

// testLimits are generous where a good port is waited for, and short where a bad one is.
func testLimits() Limits {
	return Limits{Case: 3 * time.Second, Start: time.Minute, End: 20 * time.Second, Restarts: 5}
}

// run asks a port in this mode.
func run(t *testing.T, suite *Suite, mode string, change ...func(*Options)) (*Report, error) {
	t.Helper()
	opts := Options{Limits: testLimits()}
	for _, c := range change {
		c(&opts)
	}
	return Run(t.Context(), suite, testCommand(t, mode), opts)
}

func failures(r *Report) map[string]string {
	failed := map[string]string{}
	for _, res := range r.Results {
		if res.Status == Failed {
			failed[res.Vector.ID] = res.Kind
		}
	}
	return failed
}

func codes(r *Report) []FindingCode {
	codes := []FindingCode{}
	for _, f := range r.Findings {
		codes = append(codes, f.Code)
	}
	return codes
}

func TestGoodPortsAreConformant(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"good", "fast", "spaced", "noisy", "unread", "child-keeps-pipe", "child-escapes"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			report, err := run(t, testSuite(t, 2000), mode)
			require.NoError(t, err)
			assert.Empty(t, failures(report))
			assert.Empty(t, report.Findings)
			assert.True(t, report.Conformant())
			assert.Equal(t, Count{Cases: 2010, Passed: 2010}, report.Count)
			assert.Equal(t, Hello{Name: "test-port", Version: "1.0.0"}, report.Port)
		})
	}
}

func TestSlowPortIsConformant(t *testing.T) {
	t.Parallel()
	// Each answer is within the limit; all of a window together are not.
	report, err := run(t, testSuite(t, 150), "slow", func(o *Options) { o.Limits.Case = 500 * time.Millisecond })
	require.NoError(t, err)
	assert.Empty(t, failures(report))
	assert.True(t, report.Conformant())
}

func TestPortThatCannotBeRunIsNoVerdict(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"true":            "exited with code 0 before it said hello",
		"echo":            "no name and version",
		"stderr-only":     "exited with code 0 before it said hello",
		"hang-at-hello":   "said no hello within",
		"crash-at-start":  "exited with code 127 before it said hello",
		"half-hello":      "within its hello",
		"other-protocol":  "protocol is not",
		"hello-with-bom":  "byte order mark",
		"banner":          "no JSON object",
		"hello-too-long":  "more than 1048576 bytes",
		"endless-line":    "more than 1048576 bytes",
		"hello-not-utf8":  "no JSON object",
		"hello-no-name":   "no name and version",
		"hello-two-names": "no JSON object",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			report, err := run(t, testSuite(t, 20), mode, func(o *Options) {
				if mode == "hang-at-hello" {
					o.Limits.Start = 300 * time.Millisecond
				}
			})
			var notRun *NotRunError
			require.ErrorAs(t, err, &notRun)
			assert.ErrorContains(t, err, want)
			assert.Nil(t, report)
			if mode == "crash-at-start" {
				assert.Contains(t, notRun.Stderr, "no such jar")
			}
		})
	}
	t.Run("no such program", func(t *testing.T) {
		t.Parallel()
		_, err := Run(t.Context(), testSuite(t, 20), Command{Path: "/nonexistent/port"}, Options{})
		var notRun *NotRunError
		require.ErrorAs(t, err, &notRun)
	})
}

// Each port fails the case 700 in its own way, and no other (CONF-053).
func TestOneFaultFailsOneCase(t *testing.T) {
	t.Parallel()
	suite := testSuite(t, 2000)
	for mode, kind := range map[string]FaultKind{
		"crash": Crash, "kill": Crash, "close": Crash, "half-line": Crash,
		"hang": Hang, "close-stdin": Hang,
		"long-line": WrongLine, "not-utf8": WrongLine, "both": WrongLine, "neither": WrongLine,
		"two-output": WrongLine, "extra": WrongLine, "echo-case": WrongLine, "seq-text": WrongLine,
		"wrong-seq": WrongLine, "blank-line": WrongLine, "chatty": WrongLine, "twice": WrongLine,
		"wrong": wrongOutput, "refuse": wrongError, "partial": unsupported,
		"two-text": wrongOutput, "more-text": wrongOutput, "as-number": wrongOutput, "half-pair": wrongOutput,
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			report, err := run(t, suite, mode+":700", func(o *Options) {
				if kind == Hang {
					o.Limits.Case = time.Second
				}
			})
			require.NoError(t, err)
			assert.Equal(t, map[string]string{"decimal-700": string(kind)}, failures(report))
			assert.Empty(t, report.Findings)
			assert.False(t, report.Conformant())
			assert.Equal(t, Count{Cases: 2010, Passed: 2009, Failed: 1, Unsupported: report.Count.Unsupported}, report.Count)
			if mode == "crash" {
				res := report.Results[700]
				assert.Equal(t, "panic: boom", res.Stderr)
				assert.Contains(t, res.Detail, "exited with code 7")
			}
		})
	}
}

func TestFirstAndLastCase(t *testing.T) {
	t.Parallel()
	suite := testSuite(t, 100)
	for _, mode := range []string{"crash", "wrong-seq", "twice", "chatty"} {
		for id, text := range map[string]string{"decimal-0": "0", "uuid-108": "108"} {
			t.Run(mode+" "+id, func(t *testing.T) {
				t.Parallel()
				report, err := run(t, suite, mode+":"+text)
				require.NoError(t, err)
				assert.Len(t, failures(report), 1)
				assert.Contains(t, failures(report), id)
			})
		}
	}
}

func TestFindingsBesideFailures(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]FindingCode{
		"exit-3": ExitCode, "no-exit": NoExit, "close-no-exit": NoExit,
		"answers-at-end": ExtraOutput, "half-line-at-end": ExtraOutput, "last-twice": ExtraOutput,
		"reverse": NotReproduced, "one-at-a-time": NotReproduced,
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			report, err := run(t, testSuite(t, 50), mode, func(o *Options) {
				if want == NoExit {
					o.Limits.End = 300 * time.Millisecond
				}
			})
			require.NoError(t, err)
			assert.Empty(t, failures(report))
			assert.Equal(t, []FindingCode{want}, codes(report))
			assert.False(t, report.Conformant())
			if mode == "exit-3" {
				assert.Equal(t, "leaving", report.Findings[0].Stderr)
			}
		})
	}
}

func TestPortThatNeverAnswersIsGivenUp(t *testing.T) {
	t.Parallel()
	report, err := run(t, testSuite(t, 50), "crash-always")
	require.NoError(t, err)
	assert.Equal(t, 60, report.Count.Failed)
	assert.Equal(t, []FindingCode{GaveUp}, codes(report))
	assert.Equal(t, string(Crash), report.Results[4].Kind)
	assert.Equal(t, string(NotAsked), report.Results[5].Kind)
}

func TestPortThatDoesNotFlushIsTold(t *testing.T) {
	t.Parallel()
	report, err := run(t, testSuite(t, 20), "no-flush", func(o *Options) { o.Limits.Case, o.Limits.Restarts = 200*time.Millisecond, 100 })
	require.NoError(t, err)
	assert.Equal(t, 30, report.Count.Failed)
	assert.Equal(t, []FindingCode{GaveUp}, codes(report))
	assert.Contains(t, report.Results[0].Detail, "CONF-005")
	assert.Equal(t, string(NotAsked), report.Results[silentStops].Kind)
}

func TestPortThatStartsOnlyOnceKeepsItsResults(t *testing.T) {
	t.Parallel()
	report, err := run(t, testSuite(t, 50), "once:"+filepath.Join(t.TempDir(), "ran"))
	require.NoError(t, err)
	assert.Equal(t, Passed, report.Results[0].Status)
	assert.Contains(t, codes(report), GaveUp)
	assert.False(t, report.Conformant())
}

func TestFloodIsNotConformant(t *testing.T) {
	t.Parallel()
	report, err := run(t, testSuite(t, 50), "flood")
	require.NoError(t, err)
	assert.False(t, report.Conformant())
	assert.NotZero(t, report.Count.Failed)
}

func TestFailuresOfAMultipleOf256(t *testing.T) {
	t.Parallel()
	report, err := run(t, testSuite(t, 246), "wrong-all")
	require.NoError(t, err)
	assert.Equal(t, 256, report.Count.Failed)
	assert.False(t, report.Conformant())
}

// What the verdict depends on beside the cases (CONF-052).
func TestRequiredGroups(t *testing.T) {
	t.Parallel()
	report, err := run(t, testSuite(t, 10), "unsupported")
	require.NoError(t, err)
	assert.Equal(t, []FindingCode{GroupUnsupported, GroupUnsupported}, codes(report))

	t.Run("a list of known failures is no exemption", func(t *testing.T) {
		t.Parallel()
		report, err := run(t, testSuite(t, 10), "unsupported", func(o *Options) {
			o.KnownFailures = []KnownFailure{{Case: "*", Reason: "not written yet"}}
		})
		require.NoError(t, err)
		assert.Zero(t, report.Count.Failed)
		assert.Equal(t, []FindingCode{GroupUnsupported, GroupUnsupported}, codes(report))
		assert.False(t, report.Conformant())
	})
	t.Run("missing in the vectors", func(t *testing.T) {
		t.Parallel()
		report, err := run(t, testSuite(t, 10), "good", func(o *Options) { o.Required = []string{"uuid", "money"} })
		require.NoError(t, err)
		assert.Equal(t, []FindingCode{GroupMissing}, codes(report))
		assert.False(t, report.Conformant())
	})
}

// A failure that is known fails on (CONF-052).
func TestKnownFailures(t *testing.T) {
	t.Parallel()
	suite := testSuite(t, 20)
	known := func(globs ...string) func(*Options) {
		return func(o *Options) {
			for _, g := range globs {
				o.KnownFailures = append(o.KnownFailures, KnownFailure{Case: g, Reason: "because"})
			}
		}
	}
	t.Run("fails as listed", func(t *testing.T) {
		t.Parallel()
		report, err := run(t, suite, "wrong:7", known("decimal-7"))
		require.NoError(t, err)
		assert.True(t, report.Conformant())
		assert.Equal(t, Count{Cases: 30, Passed: 29, Known: 1}, report.Count)
	})
	t.Run("passes", func(t *testing.T) {
		t.Parallel()
		report, err := run(t, suite, "wrong:7", known("decimal-[78]"))
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"decimal-8": unexpectedPass}, failures(report))
		assert.Equal(t, []FindingCode{UnexpectedPass}, codes(report))
		assert.Equal(t, "1 of 2 cases of `decimal-[78]` pass: let the entry name those that fail alone; it passes decimal-8", report.Findings[0].Text)
	})
	t.Run("pass", func(t *testing.T) {
		t.Parallel()
		report, err := run(t, suite, "good", known("decimal-*", "uuid-20", "*"))
		require.NoError(t, err)
		assert.Len(t, failures(report), 30)
		require.Equal(t, []FindingCode{UnexpectedPass, UnexpectedPass, UnexpectedPass}, codes(report), "one for each entry")
		assert.Equal(t, "all 20 cases of `decimal-*` pass: take the entry off the list", report.Findings[0].Text)
		assert.Equal(t, "`uuid-20` passes and is a known failure: take it off the list", report.Findings[1].Text)
		assert.Equal(t, "all 9 cases of `*` pass: take the entry off the list", report.Findings[2].Text)

		report, err = run(t, suite, "wrong:7", known("decimal-*"))
		require.NoError(t, err)
		assert.Contains(t, report.Findings[0].Text, "19 of 20 cases of `decimal-*` pass: ")
		assert.Regexp(t, ", …$", report.Findings[0].Text)
	})
	t.Run("is stale", func(t *testing.T) {
		t.Parallel()
		report, err := run(t, suite, "good", known("decimal-9999"))
		require.NoError(t, err)
		assert.Equal(t, []FindingCode{StaleKnownFailure}, codes(report))
		assert.False(t, report.Conformant())
	})
	t.Run("is outside the selection", func(t *testing.T) {
		t.Parallel()
		report, err := run(t, suite, "wrong:7", known("decimal-7"), func(o *Options) { o.Selection.Groups = []string{"uuid"} })
		require.NoError(t, err)
		assert.True(t, report.Conformant())
		assert.True(t, report.Partial())
	})
}

func TestSelection(t *testing.T) {
	t.Parallel()
	suite := testSuite(t, 20)
	sel := func(groups, cases []string) func(*Options) {
		return func(o *Options) { o.Selection = Selection{Groups: groups, Cases: cases} }
	}
	report, err := run(t, suite, "good", sel([]string{"decimal"}, []string{"*-1?", "uuid-*"}))
	require.NoError(t, err)
	assert.Equal(t, 10, report.Count.Passed)
	assert.Equal(t, []FindingCode{NoCase}, codes(report), "a glob that matches nothing selected")

	report, err = run(t, suite, "good", sel(nil, []string{"nothing"}))
	require.NoError(t, err)
	assert.Equal(t, []FindingCode{NoCase}, codes(report))
	assert.False(t, report.Conformant())

	_, err = run(t, suite, "good", sel([]string{"decimals"}, nil))
	assert.ErrorContains(t, err, "the groups are decimal, uuid")
	_, err = run(t, suite, "good", sel(nil, []string{"[a"}))
	assert.ErrorContains(t, err, "the glob")
}

func TestRepeatAndParallel(t *testing.T) {
	t.Parallel()
	report, err := run(t, testSuite(t, 90), "good", func(o *Options) { o.Repeat, o.Parallel = 3, 4 })
	require.NoError(t, err)
	assert.True(t, report.Conformant())
	assert.Equal(t, 100, report.Count.Passed)
	assert.Equal(t, 300, report.Asked)

	report, err = run(t, testSuite(t, 90), "crash:42", func(o *Options) { o.Repeat, o.Parallel = 3, 4 })
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"decimal-42": "crash"}, failures(report))

	_, err = run(t, testSuite(t, 90), "true", func(o *Options) { o.Parallel = 4 })
	var notRun *NotRunError
	require.ErrorAs(t, err, &notRun)
}

func TestCancelledRunEndsThePort(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	limits := testLimits()
	limits.Case = time.Hour
	_, err := Run(ctx, testSuite(t, 50), testCommand(t, "hang:5"), Options{Limits: limits})
	require.ErrorIs(t, err, context.Canceled)
}

func TestProgressIsReported(t *testing.T) {
	t.Parallel()
	calls := 0
	_, err := run(t, testSuite(t, 40), "slow", func(o *Options) {
		o.Progress = func(done, all int) { calls++; assert.LessOrEqual(t, done, all) }
	})
	require.NoError(t, err)
	assert.NotZero(t, calls)
}

// BenchmarkRun measures the runner and a port that does next to nothing, together.
func BenchmarkRun(b *testing.B) {
	suite := testSuite(b, 990)
	repeat := max(b.N/1000, 1)
	b.ResetTimer()
	report, err := Run(b.Context(), suite, testCommand(b, "fast"), Options{Repeat: repeat, Limits: testLimits()})
	b.StopTimer()
	if err != nil || !report.Conformant() {
		b.Fatal(err)
	}
	b.ReportMetric(float64(repeat*1000)/b.Elapsed().Seconds(), "cases/s")
}

func TestStrictLooksAtTheEdges(t *testing.T) {
	t.Parallel()
	strict := func(o *Options) { o.Strict = true }
	for mode, want := range map[string][]FindingCode{
		"strict":       {},
		"good":         {UnknownOp},
		"silent-exit":  {NoWord, NoWord},
		"no-end":       {ExitCode},
		"deaf":         {UnknownOp, ExitCode, ExitCode},
		"unknown-hang": {UnknownOp},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			report, err := run(t, testSuite(t, 10), mode, strict)
			require.NoError(t, err)
			assert.Equal(t, want, codes(report))
			assert.Empty(t, failures(report))
		})
	}
}
