package consumer

// window bounds what one partition has in memory: the deliveries from the oldest that is not settled to the
// last one, and the bytes of those that are not settled. It is not safe for concurrent use. (CONS-004)
type window struct {
	maxMessages int
	maxBytes    int64
	bytes       int64
}

// fits says whether one more message has room beside span deliveries. A message that is larger than the window
// fits where nothing else is on its way, so that it is not waited for in vain.
func (w *window) fits(span int, size int64) bool {
	return span < w.maxMessages && (w.bytes == 0 || w.bytes+size <= w.maxBytes)
}

// half says that half of the room is taken: what only waits is better off in a table.
func (w *window) half(span int) bool {
	return 2*span >= w.maxMessages || 2*w.bytes >= w.maxBytes
}
