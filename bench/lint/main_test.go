package main

import "testing"

// Every side reads its file to the end, and idem finds nothing in messages that are sound.
func TestEachSideReadsItsFile(t *testing.T) {
	t.Chdir("../..")
	if err := run(1, 500); err != nil {
		t.Fatal(err)
	}
}
