package simulate

import (
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"
)

// chance is a stream of decisions. Each who decides has one of its own, so that they do not depend on the order
// in which goroutines ask.
type chance struct {
	mu sync.Mutex
	r  *rand.Rand
}

func newChance(seed uint64, name string) *chance {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return &chance{r: rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// below is a number in [0, n).
func (c *chance) below(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.r.IntN(n)
}

// one is true once in n times.
func (c *chance) one(n int) bool { return n > 0 && c.below(n) == 0 }

// upTo is a time of at most d.
func (c *chance) upTo(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(c.r.Int64N(int64(d)))
}

// oneOf is true for one in n keys of a seed, the same ones whenever it is asked.
func oneOf(seed uint64, key, why string, n int) bool {
	return newChance(seed, why+" "+key).one(n)
}
