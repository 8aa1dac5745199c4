package consumer

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestLanesAgainstModel compares every head with that of a plain slice for each lane, whatever leaves: the
// head, as when it ends, or one of those that wait, as when its generation is over.
func TestLanesAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newLanes()
		model := map[laneKey][]*task{}
		keys := []laneKey{{key: "1"}, {topic: 1, key: "1"}, {key: "2"}, {copies: true, key: "1"}}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			key := rapid.SampledFrom(keys).Draw(t, "lane")
			waiting := model[key]
			if len(waiting) == 0 || rapid.Bool().Draw(t, "enter") {
				task := &task{hash: key.hashOf()}
				if head := s.enter(key, task); head != (len(waiting) == 0) {
					t.Fatalf("head %v with %d before it", head, len(waiting))
				}
				model[key] = append(waiting, task)
				continue
			}
			i := rapid.IntRange(0, len(waiting)-1).Draw(t, "leave")
			next := s.leave(waiting[i])
			waiting = append(append([]*task(nil), waiting[:i]...), waiting[i+1:]...)
			model[key] = waiting
			var want *task
			if i == 0 && len(waiting) > 0 {
				want = waiting[0]
			}
			if next != want {
				t.Fatalf("the wrong one follows")
			}
		}
		lanes := 0
		for key, waiting := range model {
			if len(waiting) == 0 {
				continue
			}
			lanes++
			if l := s.find(key, key.hashOf()); l.n != len(waiting) || l.head != waiting[0] || l.tail != waiting[len(waiting)-1] {
				t.Fatalf("lane %v has %d, want %d", key, l.n, len(waiting))
			}
		}
		if s.n != lanes {
			t.Fatalf("%d lanes, want %d: an empty one stays", s.n, lanes)
		}
	})
}

// TestLanesGrow: more lanes than buckets, and each is found until its last delivery has left.
func TestLanesGrow(t *testing.T) {
	t.Parallel()
	s := newLanes()
	all := make([]*task, 5*len(s.buckets))
	for i := range all {
		key := laneKey{key: strconv.Itoa(i)}
		all[i] = &task{hash: key.hashOf()}
		require.True(t, s.enter(key, all[i]))
		require.False(t, s.enter(key, &task{hash: key.hashOf()}))
	}
	for i, task := range all {
		next := s.leave(task)
		require.NotNil(t, next, i)
		require.Nil(t, s.leave(next))
		require.Nil(t, s.find(laneKey{key: strconv.Itoa(i)}, task.hash))
	}
	require.Zero(t, s.n)
}

// TestFault16LanesOfKeys: the same key in two topics is two lanes, and a message without a key is in none.
func TestFault16LanesOfKeys(t *testing.T) {
	t.Parallel()
	s := newLanes()
	require.True(t, s.enter(laneKey{key: "17"}, new(task)))
	require.True(t, s.enter(laneKey{topic: 1, key: "17"}, new(task)), "another topic")
	require.True(t, s.enter(laneKey{copies: true, key: "17"}, new(task)), "copies of a message")
	require.False(t, s.enter(laneKey{key: "17"}, new(task)), "the same lane")
	require.Nil(t, s.leave(new(task)), "one without a lane")
}
