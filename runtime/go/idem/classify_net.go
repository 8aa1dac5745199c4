package idem

// maxNetWord is the most bytes of a word of ClassifyNet.
const maxNetWord = 64

// ClassifyNet is what a failure of the network means, by one of the spec's words: "timeout", "refused",
// "reset", "closed", "eof", "unreachable", "dns_timeout", "canceled", "tls_certificate", "tls_hostname",
// "dns_not_found", "url_invalid". Another word of [a-z_]{1,64} is OutcomeRetryable, and anything else
// CodeInputInvalid. (CLASS-041, CLASS-050)
func ClassifyNet(word string) (Outcome, error) {
	if word == "" || len(word) > maxNetWord {
		return 0, fault(CodeInputInvalid, word, noOffset, "a word is 1 to 64 characters of [a-z_]")
	}
	for i := 0; i < len(word); i++ {
		if word[i] != '_' && word[i]-'a' >= 26 {
			return 0, fault(CodeInputInvalid, word, i, "a word is 1 to 64 characters of [a-z_]")
		}
	}
	switch word {
	case "tls_certificate", "tls_hostname", "dns_not_found", "url_invalid":
		return OutcomeNonRetryable, nil
	}
	return OutcomeRetryable, nil
}
