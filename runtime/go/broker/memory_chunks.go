package broker

// chunkSize is how many messages lie together.
const chunkSize = 256

// chunks are messages in their order. They grow without being copied, and are dropped from the front. One that is
// there does not change, so slices may be read while more are added or dropped.
type chunks struct {
	all  [][]packed // chunkSize each, the last one perhaps less
	head int        // how many of the first chunk were dropped
	n    int
}

func (c *chunks) at(i int) *packed {
	i += c.head
	return &c.all[i/chunkSize][i%chunkSize]
}

func (c *chunks) push(m *packed) {
	if c.head+c.n == chunkSize*len(c.all) {
		c.all = append(c.all, make([]packed, 0, chunkSize))
	}
	last := &c.all[len(c.all)-1]
	*last = append(*last, *m)
	c.n++
}

// slices are the messages from one to before another, in parts.
func (c *chunks) slices(from, to int) [][]packed {
	parts := make([][]packed, 0, (to-from)/chunkSize+2)
	for from < to {
		i := c.head + from
		part := c.all[i/chunkSize][i%chunkSize:]
		part = part[:min(len(part), to-from)]
		parts = append(parts, part)
		from += len(part)
	}
	return parts
}

// drop lets go of the first n; their memory goes a chunk at a time.
func (c *chunks) drop(n int) {
	c.head, c.n = c.head+n, c.n-n
	whole := c.head / chunkSize
	clear(c.all[:whole])
	c.all, c.head = c.all[whole:], c.head%chunkSize
}
