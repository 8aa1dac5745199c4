package consumer

// suspected says that there is a task to be claimed alone whose route works. Until it has ended, nothing else
// is claimed. The caller holds the lock.
func (e *engine) suspected() bool {
	for t := e.suspects.front(); t != nil && t.dropped; t = e.suspects.front() {
		e.recycle(e.suspects.pop())
	}
	for i := range e.suspects.len() {
		if t := e.suspects.at(i); !t.dropped && !t.route.resting(t) {
			return true
		}
	}
	return false
}

// takeAlone takes a suspect, once nothing else runs. The caller holds the lock. (DEDUP-024)
func (e *engine) takeAlone() *task {
	if !e.calm() {
		return nil
	}
	var taken *task
	e.suspects.keep(func(t *task) bool {
		if taken != nil || t.dropped || t.route.resting(t) {
			return true
		}
		taken = t
		return false
	})
	taken.alone, e.alone = true, true
	e.takeOff(taken, claiming)
	taken.route.claiming++
	return taken
}
