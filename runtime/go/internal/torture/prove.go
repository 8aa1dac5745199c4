//go:build unix

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/internal/plant"
)

// prove runs each planted bug for a short time. A judge that does not find them proves nothing.
func prove(ctx context.Context, o options) int {
	var missed []plant.Bug
	found := map[plant.Bug]string{}
	for i, bug := range plant.Bugs() {
		one := o
		one.bug, one.seed, one.duration, one.settle = bug, o.seed+uint64(i), min(o.duration, 35*time.Second), 2*time.Minute
		fmt.Printf("\n== %s\n", bug)
		v, err := run(ctx, one)
		if err != nil {
			fmt.Println("torture:", err)
			return exitBroken
		}
		if len(v.violations) == 0 {
			missed = append(missed, bug)
			continue
		}
		found[bug] = v.violations[0].String()
	}
	fmt.Println()
	for _, bug := range plant.Bugs() {
		if what, there := found[bug]; there {
			fmt.Printf("found   %-22s %s\n", bug, what)
		} else {
			fmt.Printf("MISSED  %s\n", bug)
		}
	}
	if len(missed) > 0 {
		return exitViolated
	}
	return exitSound
}
