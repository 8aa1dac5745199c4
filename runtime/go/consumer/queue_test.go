package consumer

import (
	"testing"

	"pgregory.net/rapid"
)

func TestQueueAgainstSlice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var model []*task
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1:
				x := new(task)
				q.push(x)
				model = append(model, x)
			case 2, 3:
				x := new(task)
				q.pushFront(x)
				model = append([]*task{x}, model...)
			case 4:
				x := q.pop()
				if len(model) == 0 {
					if x != nil {
						t.Fatal("something of nothing")
					}
					continue
				}
				if x != model[0] {
					t.Fatal("not the first")
				}
				model = model[1:]
			case 5:
				odd := map[*task]bool{}
				var kept []*task
				for i, x := range model {
					if i%2 == 1 {
						odd[x] = true
						kept = append(kept, x)
					}
				}
				q.keep(func(x *task) bool { return odd[x] })
				model = kept
			}
			if q.len() != len(model) {
				t.Fatalf("%d, want %d", q.len(), len(model))
			}
			for i, x := range model {
				if q.at(i) != x {
					t.Fatalf("the wrong one at %d", i)
				}
			}
		}
	})
}
