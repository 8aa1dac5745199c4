package lag

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/idem-spec/idem/internal/operate/show"
)

// places names partitions of a topic: orders/0-3,7.
func places(topic string, partitions []int32) string {
	sorted := slices.Sorted(slices.Values(partitions))
	var parts []string
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(sorted[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", sorted[i], sorted[j]))
		}
		i = j + 1
	}
	return topic + "/" + strings.Join(parts, ",")
}

func wait(messages int64) string {
	if messages == 1 {
		return "1 message waits"
	}
	return fmt.Sprintf("%d messages wait", messages)
}

// Rate is so many a second, as short as it says something.
func Rate(perSecond float64) string {
	switch {
	case perSecond == 0:
		return "0"
	case math.Abs(perSecond) < 10:
		return fmt.Sprintf("%.2g", perSecond)
	}
	return fmt.Sprintf("%.0f", perSecond)
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05Z") }

func span(d time.Duration) string { return show.Age(d) }

func seconds(s float64) string { return span(time.Duration(min(s, 1e9) * float64(time.Second))) }
