package doctor

import (
	"fmt"
	"strings"
	"time"
)

const maxDuration = time.Duration(1<<63 - 1)

// span prints a duration in its largest units: 14d, 3d2h, 36h, 1h3m51s, 40ms.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch hours := d.Round(time.Hour); {
	case d >= 100*365*day:
		return "for ever"
	case hours >= day && hours%day == 0:
		return fmt.Sprintf("%dd", hours/day)
	case d >= 2*day:
		return fmt.Sprintf("%dd%dh", hours/day, hours%day/time.Hour)
	case d >= time.Minute:
		text := d.Round(time.Second).String()
		if strings.HasSuffix(text, "m0s") {
			text = strings.TrimSuffix(text, "0s")
		}
		if strings.HasSuffix(text, "h0m") {
			text = strings.TrimSuffix(text, "0m")
		}
		return text
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}
