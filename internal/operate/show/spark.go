package show

import "strings"

// Sparkline draws values, none of them negative, as a bar each. The highest is as high as the line, one that is not 0
// is never as low as 0, and without any they are blank.
func Sparkline(values []float64) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	most := 0.0
	for _, v := range values {
		most = max(most, v)
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case most == 0:
			b.WriteByte(' ')
		case v <= 0:
			b.WriteRune(bars[0])
		default:
			b.WriteRune(bars[1+min(int(v/most*float64(len(bars)-1)), len(bars)-2)])
		}
	}
	return b.String()
}
