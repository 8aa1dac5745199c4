package doctor

import "time"

// How far clocks may be apart, beside how long the answer took.
const (
	apart    = time.Second
	farApart = time.Minute
)

// compareClocks compares this machine's clock, before and after another one was read, with that one.
func compareClocks(r *report, before, there, after time.Time) error {
	between := before.Add(after.Sub(before) / 2)
	difference := there.Sub(between)
	word := "ahead of"
	if difference < 0 {
		difference, word = -difference, "behind"
	}
	mend := "run chrony or ntpd on both, and look at `chronyc tracking`"
	switch beyond := difference - after.Sub(before)/2; {
	case beyond >= farApart:
		r.as(Error, mend, "the server's is %s %s this machine's", span(difference), word)
	case beyond >= apart:
		r.find(mend, "the server's is %s %s this machine's", span(difference), word)
	default:
		r.ok("%s apart", span(difference))
	}
	return nil
}
