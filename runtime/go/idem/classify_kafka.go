package idem

// kafkaNonRetryable has a bit for each error code of Kafka's protocol that will not mend itself.
var kafkaNonRetryable = bitsOf(
	1, 4, 10, 12, 17, 18, 21, 23, 24, 26, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 42, 43, 44,
	50, 53, 54, 57, 58, 61, 62, 63, 64, 65, 66, 67, 69, 73, 76, 81, 85, 86, 87, 91, 92, 93, 94, 95, 96, 97,
	98, 99, 101, 102, 104, 105, 107, 112, 114, 115, 116, 117, 118, 119, 121, 125, 126, 127, 128, 130, 131,
)

func bitsOf(codes ...int) (set [3]uint64) {
	for _, c := range codes {
		set[c/64] |= 1 << uint(c%64)
	}
	return set
}

// ClassifyKafka is what an error code of Kafka's protocol means. Codes that are not in the spec's lists,
// -1 and those of a newer broker among them, are OutcomeRetryable. (CLASS-040)
func ClassifyKafka(code int16) Outcome {
	switch {
	case code == 0:
		return OutcomeOK
	case code == 89: // THROTTLING_QUOTA_EXCEEDED
		return OutcomeThrottled
	case code > 0 && int(code) < 64*len(kafkaNonRetryable) && kafkaNonRetryable[code/64]>>uint(code%64)&1 == 1:
		return OutcomeNonRetryable
	}
	return OutcomeRetryable
}
