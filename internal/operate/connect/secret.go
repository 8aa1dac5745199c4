package connect

import (
	"net/url"
	"regexp"
	"strings"
)

// hidden is what stands for a password.
const hidden = "xxxxx"

// pairs are the settings of a DSN that nobody may see, in key=value pairs and behind the ? of a URL.
var pairs = regexp.MustCompile(`(?i)\b((?:ssl)?password|passwd|pwd)\s*=\s*('(?:[^'\\]|\\.)*'|[^\s&]+)`)

// hostAlone is what is behind the :// of a URL without a password: hosts, each with a port.
var hostAlone = regexp.MustCompile(`^(\[[^\]]*\]|[^:/?#])*(:\d*)?([,/?#]|$)`)

// secrets are the texts of a DSN that nobody may see, as they are written and as they are meant.
func secrets(dsn string) []string {
	var found []string
	add := func(text string) {
		if text == "" {
			return
		}
		found = append(found, text)
		if plain, err := url.PathUnescape(text); err == nil && plain != text {
			found = append(found, plain)
		}
	}
	for _, m := range pairs.FindAllStringSubmatch(dsn, -1) {
		add(m[2])
		add(strings.Trim(m[2], "'"))
	}
	_, rest, isURL := strings.Cut(dsn, "://")
	if !isURL {
		return found
	}
	// Up to the last @, so that a password with an @ or a / of its own is whole.
	at := strings.LastIndexByte(rest, '@')
	if at < 0 && !hostAlone.MatchString(rest) { // cut off within the password, as by a shell at its &
		at = len(rest)
	}
	if at >= 0 {
		_, password, _ := strings.Cut(rest[:at], ":")
		add(password)
		// What a parser takes for the host, where the password has what ends it.
		for _, part := range strings.FieldsFunc(password, func(r rune) bool { return strings.ContainsRune("@/:?#", r) }) {
			add(part)
		}
	}
	return found
}

// Redact replaces the passwords of a DSN in a text.
func Redact(text, dsn string) string {
	for _, secret := range secrets(dsn) {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	return text
}

// redacted is an error whose text has no password, and whose cause can be asked for all the same.
type redacted struct {
	text string
	err  error
}

func (e *redacted) Error() string { return e.text }
func (e *redacted) Unwrap() error { return e.err }

// Hide leaves the passwords of a DSN out of an error.
func Hide(err error, dsn string) error {
	if err == nil {
		return nil
	}
	if text := Redact(err.Error(), dsn); text != err.Error() {
		return &redacted{text, err}
	}
	return err
}
