package lag

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/idem-spec/idem/runtime/go/kafka"
)

// second is a time of a series.
func second(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }

// series is what comes in each second of a partition, and what is done of it then.
type series struct {
	in, out []int64
}

// then goes on for so many seconds.
func (s *series) then(seconds int, in, out int64) *series {
	for range seconds {
		s.in, s.out = append(s.in, in), append(s.out, out)
	}
	return s
}

// batches goes on with a group that commits what there is each so many seconds.
func (s *series) batches(seconds int, in int64, every int) *series {
	waiting := int64(0)
	for i := range seconds {
		waiting += in
		done := int64(0)
		if (i+1)%every == 0 {
			done, waiting = waiting, 0
		}
		s.then(1, in, done)
	}
	return s
}

// looked is the track of one that looks for the first time at a second, and no later.
func (s *series) looked(at int, since time.Duration) *track {
	var end, next int64
	ends, t := make([]int64, at+1), &track{}
	var commits []kafka.Commit
	for i := range at {
		end += s.in[i]
		ends[i+1] = end
		if done := min(s.out[i], end-next); done > 0 {
			next += done
			commits = append(commits, kafka.Commit{Offset: next, At: second(i + 1)})
		}
	}
	now := second(at)
	from := now.Add(-since)
	for len(commits) > 0 && commits[0].At.Before(from) {
		commits = commits[1:]
	}
	t.commitsFrom(from, commits, next)
	for _, past := range append(samples(now, since), now.Add(-window), now.Add(-window/latelyPart)) {
		t.endsAt(past, ends[max(0, min(at, int(past.Sub(start)/time.Second)))])
	}
	t.look(now, end, next, from)
	return t
}

const window = 5 * time.Minute

func TestSlopesOfSeries(t *testing.T) {
	t.Parallel()
	const hour = 3600
	// An hour and a half that was kept up with, so that all that is looked back at is known.
	well := func() *series { return (&series{}).then(hour*3/2, 1, 1) }
	const from = hour * 3 / 2
	for _, c := range []struct {
		what   string
		series *series
		looks  map[int]Slope // at a second after from
		began  int           // where it rises, a second after from
	}{
		{"a burst, and the group is paused", well().then(3, 70, 0).then(900, 0, 0),
			map[int]Slope{3: Rising, 9: Rising, 17: Rising, 34: Flat, 60: Flat, 119: Flat, 290: Flat, 310: Flat, 800: Flat}, 0},
		{"a peak before that", well().then(30, 50, 30).then(120, 0, 20).then(3, 70, 0).then(900, 0, 0),
			map[int]Slope{50: Draining, 100: Flat, 153: Rising, 160: Rising, 190: Flat, 260: Flat, 400: Flat, 460: Flat}, 150},
		{"a burst that is done, and nothing since", well().then(30, 50, 20).then(60, 0, 30).then(900, 0, 0),
			map[int]Slope{20: Rising, 60: Draining, 130: Flat, 300: Flat, 420: Flat}, 0},
		{"a steady rise", well().then(900, 50, 38), map[int]Slope{30: Rising, 150: Rising, 300: Rising, 890: Rising}, 0},
		{"a slow rise", well().batches(0, 0, 1).then(900, 1, 0), map[int]Slope{60: Rising, 300: Rising, 800: Rising}, 0},
		{"a drain", well().then(60, 100, 0).then(900, 10, 20), map[int]Slope{50: Rising, 150: Draining, 400: Draining, 600: Draining}, 0},
		{"a drain from which it rises", well().then(60, 100, 0).then(240, 0, 60).then(600, 50, 0),
			map[int]Slope{110: Draining, 230: Flat, 330: Rising, 700: Rising}, 300},
		{"a saw tooth", (&series{}).batches(from+900, 100, 60), map[int]Slope{1: Flat, 29: Flat, 59: Flat, 130: Flat, 417: Flat}, 0},
		{"a saw tooth, and then it is paused", (&series{}).batches(from, 100, 60).then(900, 100, 0),
			map[int]Slope{150: Rising, 400: Rising}, 0},
		{"a lag that stays for long", well().then(3, 70, 0).then(3*hour, 0, 0), map[int]Slope{hour: Flat, 2*hour + 7: Flat}, 0},
		{"a lag that is kept", well().then(3, 70, 0).then(3*hour, 20, 20), map[int]Slope{hour: Flat, 2*hour + 7: Flat}, 0},
	} {
		for after, slope := range c.looks {
			what := fmt.Sprintf("%s: %ds on", c.what, after)
			trend := trendOf(c.series.looked(from+after, time.Hour), window)
			assert.Equal(t, slope, trend.Slope, what)
			if slope != Rising {
				assert.Zero(t, trend.Since, what)
				continue
			}
			began, ago := second(from+c.began), time.Duration(after-c.began)*time.Second
			near := max(min(2*time.Minute, ago), 2*time.Second) // as near as it is known
			assert.WithinRange(t, trend.Since, began.Add(-near), began.Add(near), what)
			assert.WithinRange(t, trend.SinceBy, trend.Since, trend.Since.Add(near), what)
		}
	}
}

// What has happened has happened: a look later at the same tells of the same beginning, as far as both know it.
func TestTheBeginningOfARiseStaysWhereItIs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := (&series{}).then(3600+random.IntN(600), 5, 5)
		if random.IntN(2) == 0 { // an older peak, that is done for long enough to be seen
			s.then(20, 100, 0).then(240+random.IntN(300), 5, 25)
		}
		began := len(s.in)
		s.then(1+random.IntN(5), 50+random.Int64N(100), random.Int64N(2)*5)
		for range 1 + random.IntN(8) { // rises of any steepness, and pauses
			s.then(10+random.IntN(200), random.Int64N(3)*20, 0)
		}
		var since, by time.Time // what all looks agree on
		for at := began + 1; at <= len(s.in); at += 1 + random.IntN(60) {
			trend := trendOf(s.looked(at, time.Hour), window)
			if trend.Slope != Rising {
				continue
			}
			what := fmt.Sprintf("seed %d, %ds on", seed, at-began)
			assert.False(t, trend.Since.After(second(began+1)) || trend.SinceBy.Before(second(began)), "%s: %v to %v", what, trend.Since, trend.SinceBy)
			assert.LessOrEqual(t, trend.SinceBy.Sub(trend.Since), max(min(2*time.Minute, time.Duration(at-began)*time.Second), 2*time.Second), what)
			if since = later(since, trend.Since); by.IsZero() || trend.SinceBy.Before(by) {
				by = trend.SinceBy
			}
			assert.True(t, since.Before(by), "%s: %v is not before %v", what, since, by)
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func TestSamplesAreTheSameAtALaterLook(t *testing.T) {
	t.Parallel()
	for _, since := range []time.Duration{20 * time.Second, 5 * time.Minute, time.Hour, 24 * time.Hour} {
		first, then := samples(second(7), since), map[time.Time]bool{}
		for _, at := range samples(second(7).Add(since/steps+time.Second), since) {
			assert.False(t, then[at], "%v: %v is there twice", since, at)
			then[at] = true
		}
		same := 0
		for _, at := range first {
			assert.False(t, at.After(second(7)), since)
			if then[at] {
				same++
			}
		}
		assert.GreaterOrEqual(t, same, steps-2, since)
	}
}
