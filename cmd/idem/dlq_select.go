package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// selectFlags are those of commands that change dead letters: ids, or a filter, or all.
type selectFlags struct {
	operateFlags
	letterFilter
	changeFlags
	all bool
	// mayBeGone says that a dead letter which is not there any more is one that is done, as after an interruption.
	mayBeGone bool
}

func (f *selectFlags) add(command *cobra.Command) {
	f.operateFlags.add(command)
	f.letterFilter.add(command)
	f.changeFlags.add(command)
	offerValues(command, &f.place, letterValues)
	offerLetters(command, &f.place)
	command.Flags().BoolVar(&f.all, "all", false, "all that wait, where there is neither an id nor a filter")
}

func (f *selectFlags) checkSelection(args []string) error {
	if err := checkSelection(args, f.letterFilter.empty(), f.all); err != nil {
		return err
	}
	return f.changeFlags.check()
}

// selection is what was selected when the operator was asked. What comes later is not in it.
type selection struct {
	letters store.DeadLetters
	ids     []int64 // in order
	ended   map[int64]time.Time
	skipped int // named, and done already
	tooOld  int
	sample  []store.DeadLetter
	target  string
}

// selected finds the dead letters, and says where there are none, or more than --max.
func (f *selectFlags) selected(ctx context.Context, std streams, s *connect.Store, args []string) (*selection, error) {
	ids, err := identities(args)
	if err != nil {
		return nil, err
	}
	if len(ids) > f.max {
		return nil, failf("%d ids, and --max is %d: nothing was changed", len(ids), f.max)
	}
	filter, err := f.filter()
	if err != nil {
		return nil, err
	}
	found := &selection{letters: s, ended: map[int64]time.Time{}, target: f.letterFilter.text()}
	if len(ids) > 0 {
		err := f.byID(ctx, std, s, found, ids)
		found.target = "ids " + idText(found.ids)
		return found, err
	}
	var after store.Cursor
	page := func(limit int) ([]store.DeadLetter, error) {
		list, err := s.RecentDeadLetters(ctx, filter, after, limit)
		if len(list) > 0 {
			after = store.CursorOf(&list[len(list)-1])
		}
		return list, err
	}
	for {
		list, err := page(min(pageSize, f.max+1-len(found.ids)))
		if err != nil {
			return nil, unreached(ctx, err, s.DSN)
		}
		if len(list) == 0 {
			break
		}
		if found.add(list); len(found.ids) > f.max {
			return nil, f.tooMany(len(found.ids), "dead letters", time.Now().Add(countTime), func() (int, error) {
				list, err := page(1000) // without payloads
				return len(list), err
			})
		}
	}
	if len(found.ids) == 0 {
		return nil, noneOf("dead letter", found.target, f.whyNoLetter(ctx, s))
	}
	slices.Sort(found.ids)
	return found, nil
}

// byID leaves out those that are done, so that a command that was interrupted can be given again.
func (f *selectFlags) byID(ctx context.Context, std streams, s *connect.Store, found *selection, ids []int64) error {
	slices.Sort(ids)
	var redriven, gone []int64
	for _, id := range slices.Compact(ids) {
		d, err := letterByID(ctx, s, id)
		switch {
		case err != nil:
			return unreached(ctx, err, s.DSN)
		case d == nil && !f.mayBeGone:
			return failf("there is no dead letter %d in %s: nothing was changed", id, s.Place())
		case d == nil:
			gone = append(gone, id)
		case !d.RedrivenAt.IsZero():
			redriven = append(redriven, id)
		default:
			found.add([]store.DeadLetter{*d})
		}
	}
	skip(std, "redriven already, and skipped", redriven...)
	skip(std, "not in "+s.Place()+" (dropped since, or never there), and skipped", gone...)
	if found.skipped = len(redriven) + len(gone); len(found.ids) == 0 {
		return failf("nothing is left to do: nothing was changed")
	}
	return nil
}

func (c *selection) add(letters []store.DeadLetter) {
	for i := range letters {
		c.ids = append(c.ids, letters[i].ID)
		c.ended[letters[i].ID] = letters[i].CreatedAt
		if letters[i].Outcome == idem.OutcomeTooOld {
			c.tooOld++
		}
		if len(c.sample) < sampleSize {
			c.sample = append(c.sample, letters[i])
		}
	}
}

// show prints the first ones, and how many there are; for a program all, in the order of ids.
func (c *selection) show(ctx context.Context, std streams, asJSON bool, s *connect.Store) error {
	if !asJSON {
		return letterSheet.sample(std, false, s.Name, c.sample, len(c.ids))
	}
	for after := int64(0); ; {
		page, err := (&chosen{s, c}).ListDeadLetters(ctx, store.DeadLetterFilter{}, after, pageSize)
		if err != nil {
			return unreached(ctx, err, s.DSN)
		}
		if len(page) == 0 {
			return nil
		}
		if err := letterSheet.sample(std, true, s.Name, page, len(page)); err != nil {
			return err
		}
		after = page[len(page)-1].ID
	}
}

// chosen are the dead letters of a selection, for a redriver: what has come since is not among them, nor one that was
// redriven since and has ended once more, under its old id and for another reason.
type chosen struct {
	store.DeadLetters
	*selection
}

// CountDeadLetters counts them.
func (c *chosen) CountDeadLetters(context.Context, store.DeadLetterFilter) (int64, error) {
	return int64(len(c.ids)), nil
}

// ListDeadLetters gives those that still wait.
func (c *chosen) ListDeadLetters(ctx context.Context, _ store.DeadLetterFilter, after int64, limit int) ([]store.DeadLetter, error) {
	var list []store.DeadLetter
	from, _ := slices.BinarySearch(c.ids, after+1)
	for _, id := range c.ids[from:] {
		if len(list) == limit {
			break
		}
		d, err := letterByID(ctx, c.DeadLetters, id)
		if err != nil {
			return nil, err
		}
		if d != nil && d.RedrivenAt.IsZero() && d.CreatedAt.Equal(c.ended[id]) {
			list = append(list, *d)
		}
	}
	return list, nil
}

// drop removes those that still wait.
func (c *chosen) drop(ctx context.Context, ids []int64) (int, error) {
	list, err := c.ListDeadLetters(ctx, store.DeadLetterFilter{}, ids[0]-1, len(ids))
	var still []int64
	for i := range list {
		if list[i].ID <= ids[len(ids)-1] {
			still = append(still, list[i].ID)
		}
	}
	if err != nil || len(still) == 0 {
		return 0, err
	}
	return c.DropDeadLetters(ctx, still)
}
