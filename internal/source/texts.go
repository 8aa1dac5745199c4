package source

import (
	"bytes"
	"io"
	"os"
	"sync"
)

// texts are files as they were when they were first read, so that what is said of one is of what was compiled.
type texts struct {
	mu   sync.Mutex
	read map[string][]byte
}

func (t *texts) open(file string) (io.ReadCloser, error) {
	text, err := t.text(file)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

// text reads a file, which need not be there. It may be called on nil.
func (t *texts) text(file string) ([]byte, error) {
	if t == nil {
		return os.ReadFile(file)
	}
	t.mu.Lock()
	text, ok := t.read[file]
	t.mu.Unlock()
	if ok {
		return text, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.read == nil {
		t.read = make(map[string][]byte)
	}
	t.read[file] = text
	return text, nil
}
