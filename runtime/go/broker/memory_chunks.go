package broker

// chunkSize is how many messages lie together.
const chunkSize = 256

// chunks are messages in their order. They grow without being copied, and are dropped from the front.
type chunks struct {
	all  [][]Message // chunkSize each, the last one perhaps less
	head int         // how many of the first chunk were dropped
	n    int
}

func (c *chunks) at(i int) *Message {
	i += c.head
	return &c.all[i/chunkSize][i%chunkSize]
}

func (c *chunks) push(m *Message) {
	if c.head+c.n == chunkSize*len(c.all) {
		c.all = append(c.all, make([]Message, 0, chunkSize))
	}
	last := &c.all[len(c.all)-1]
	*last = append(*last, *m)
	c.n++
}

// copyOf is the messages from one to before another.
func (c *chunks) copyOf(from, to int) []Message {
	all := make([]Message, 0, to-from)
	for from < to {
		i := c.head + from
		part := c.all[i/chunkSize][i%chunkSize:]
		part = part[:min(len(part), to-from)]
		all = append(all, part...)
		from += len(part)
	}
	return all
}

// drop lets go of the first n.
func (c *chunks) drop(n int) {
	for i := range n {
		*c.at(i) = Message{}
	}
	c.head, c.n = c.head+n, c.n-n
	whole := c.head / chunkSize
	clear(c.all[:whole])
	c.all, c.head = c.all[whole:], c.head%chunkSize
}
