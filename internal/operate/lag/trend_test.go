package lag

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/idem-spec/idem/runtime/go/kafka"
)

var start = time.Date(2026, 7, 1, 6, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }

// drawn is a track with a lag for each minute: in messages come a minute.
func drawn(in int64, lags ...int64) *track {
	t := &track{}
	for i, lag := range lags {
		end := 1000 + int64(i)*in
		t.ends = append(t.ends, mark{minute(i), end})
		if n := len(t.commits); n == 0 || t.commits[n-1].offset != end-lag {
			t.commits = append(t.commits, mark{minute(i), end - lag})
		}
	}
	return t
}

func TestTrendByTheRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		track *track
		slope Slope
		since int // minute; it had begun by the next
	}{
		{"no lag", drawn(100, 0, 0, 0, 0, 0, 0, 0), Flat, -1},
		{"a lag that stays", drawn(100, 500, 500, 500, 500, 500, 500, 500), Flat, -1},
		{"the step of commits", drawn(100, 0, 40, 0, 40, 0, 40, 40), Flat, -1},
		{"few messages more", drawn(1, 0, 0, 1, 2, 3, 4, 10), Flat, -1},
		{"rises at last", drawn(100, 0, 0, 0, 0, 0, 60, 120), Rising, 4},
		{"rises all the time", drawn(100, 0, 100, 200, 300, 400, 500, 600), Rising, 0},
		{"rose, drained, and rises again", drawn(100, 0, 900, 300, 50, 20, 200, 400, 600, 800), Rising, 4},
		{"rises with steps back that are small", drawn(100, 0, 0, 100, 90, 200, 190, 300), Rising, 1},
		{"drains", drawn(100, 900, 800, 700, 500, 300, 200, 100), Draining, -1},
		{"stands while messages come", drawn(5, 0, 5, 10, 15, 20, 25, 30), Rising, 2}, // within 10 messages it was low
	} {
		trend := trendOf(c.track, 5*time.Minute)
		assert.Equal(t, c.slope, trend.Slope, c.what)
		assert.Equal(t, 5*time.Minute, trend.Window, c.what)
		if c.since < 0 {
			assert.Zero(t, trend.Since, c.what)
			assert.Zero(t, trend.SinceBy, c.what)
		} else {
			assert.Equal(t, minute(c.since), trend.Since, c.what)
			assert.Equal(t, minute(c.since+1), trend.SinceBy, c.what)
		}
	}
}

func TestWhatRoseAllTheTimeBeganBefore(t *testing.T) {
	t.Parallel()
	trend := trendOf(drawn(100, 300, 400, 500, 600, 700, 800), 5*time.Minute)
	assert.Equal(t, minute(0), trend.Since)
	assert.Equal(t, minute(0), trend.SinceBy)
}

func TestTrendTellsRates(t *testing.T) {
	t.Parallel()
	trend := trendOf(drawn(600, 0, 60, 120, 180, 240, 300), 5*time.Minute)
	assert.InDelta(t, 10, trend.In, 0.001)
	assert.InDelta(t, 9, trend.Out, 0.001)
	trend = trendOf(drawn(600, 0, 60), 5*time.Minute)
	assert.Equal(t, time.Minute, trend.Window, "over what is known")
}

func TestOfATrackWithoutAPastThereIsNoSlope(t *testing.T) {
	t.Parallel()
	for what, track := range map[string]*track{
		"empty":           {},
		"one look":        drawn(1, 500),
		"no commits":      {ends: []mark{{minute(0), 1}, {minute(1), 2}}},
		"removed commits": {ends: []mark{{minute(0), 1}, {minute(1), 2}}, commits: []mark{{minute(0), unknown}}},
		"at one time":     {ends: []mark{{minute(0), 1}, {minute(0), 1}}, commits: []mark{{minute(0), 0}}},
	} {
		assert.Empty(t, trendOf(track, time.Minute).Slope, what)
	}
}

func TestATrackOfCommits(t *testing.T) {
	t.Parallel()
	commit := func(at int, offset int64) kafka.Commit { return kafka.Commit{Offset: offset, At: minute(at)} }
	for _, c := range []struct {
		what    string
		commits []kafka.Commit
		next    int64
		lags    []int64 // of the minutes 0 to 4; the partition ends at 10, 20, 30, 40, 50
		unmoved int
		came    bool
	}{
		{"none since: it was there all the time", nil, 5, []int64{5, 15, 25, 35, 45}, 0, false},
		{"unknown before the first", []kafka.Commit{commit(2, 20), commit(3, 40)}, 40, []int64{10, 0, 10}, 3, true},
		{"the same again is no move", []kafka.Commit{commit(1, 10), commit(2, 20), commit(3, 20), commit(4, 20)}, 20, []int64{10, 10, 20, 30}, 2, true},
		{"the same again, and nothing before", []kafka.Commit{commit(1, 20), commit(3, 20)}, 20, []int64{0, 10, 20, 30}, 1, false},
		{"out of order", []kafka.Commit{commit(3, 30), commit(1, 10)}, 30, []int64{10, 20, 10, 20}, 3, true},
		{"removed, and committed anew", []kafka.Commit{commit(0, 10), commit(1, -1), commit(3, 30)}, 30, []int64{0, 10, 20}, 3, true},
		{"a clock ahead", []kafka.Commit{commit(0, 0), commit(9, 50)}, 50, []int64{10, 20, 30, 40, 0}, 4, true},
		{"moved since it was read", []kafka.Commit{commit(0, 0)}, 50, []int64{10, 20, 30, 40, 0}, 4, true},
	} {
		track := &track{}
		track.commitsFrom(minute(0), c.commits, c.next)
		for _, i := range []int{3, 0, 2, 1} {
			track.endsAt(minute(i), int64(10*(i+1)))
		}
		track.look(minute(4), 50, c.next, minute(-1))
		var lags []int64
		for _, p := range track.points() {
			lags = append(lags, p.Lag)
		}
		assert.Equal(t, c.lags, lags, c.what)
		unmoved, came := track.unmoved()
		assert.Equal(t, minute(c.unmoved), unmoved, c.what)
		assert.Equal(t, c.came, came, c.what)
	}
}

func TestATrackForgetsWhatIsOld(t *testing.T) {
	t.Parallel()
	track := &track{}
	for i := range 100 {
		track.look(minute(i), int64(i), int64(i), minute(i-10))
	}
	assert.LessOrEqual(t, len(track.ends), 11)
	assert.LessOrEqual(t, len(track.commits), 11)
}

func TestSparkline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lags []int64
		want string
	}{
		{nil, "      "},
		{[]int64{0, 0, 0, 0, 0, 0}, "▁▁▁▁▁▁"},
		{[]int64{0, 20, 40, 60, 80, 100}, "▁▃▄▆▇█"},
		{[]int64{50, 70}, "    ▇█"},
		{[]int64{1 << 40, 1, 1 << 39}, "   █▂▅"},
	} {
		var points []Point
		for i, lag := range c.lags {
			points = append(points, Point{At: minute(10 + i - len(c.lags) + 1), Lag: lag})
		}
		assert.Equal(t, c.want, Spark(points, minute(10), 6*time.Minute, 6), c.lags)
	}
	assert.Equal(t, "█████", strings.TrimSpace(Spark([]Point{{At: minute(6), Lag: 30}, {At: minute(10), Lag: 30}}, minute(10), 5*time.Minute, 5)), "between two looks it was as before")
}
