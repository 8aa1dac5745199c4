package dial

import (
	"errors"
	"net/url"
	"strings"
)

// errEscape is for a password that has what a URL ends a password with: the rest of it is taken for a host or a
// database, and would be named as such.
var errEscape = errors.New("the DSN has an @ in what comes behind user and password: escape @ : / in the password of the DSN (%40 %3A %2F)")

// checkDSN says what of a DSN cannot be meant, without quoting any of it.
func checkDSN(address string) error {
	_, rest, _ := strings.Cut(address, "://")
	if i := strings.IndexAny(rest, "@/"); i >= 0 && rest[i] == '@' {
		rest = rest[i+1:]
	}
	rest, _, _ = strings.Cut(rest, "?")
	if strings.Contains(rest, "@") {
		return errEscape
	}
	return nil
}

// worded is an error with a text of its own.
type worded struct {
	text string
	err  error
}

func (e *worded) Error() string { return e.text }
func (e *worded) Unwrap() error { return e.err }

// hidden leaves the password of a URL out of the text of an error that repeats the URL.
func hidden(err error, address string) error {
	if err == nil {
		return nil
	}
	_, rest, _ := strings.Cut(address, "://")
	user, _, there := strings.Cut(rest, "@")
	_, password, given := strings.Cut(user, ":")
	if !there || !given || password == "" {
		return err
	}
	text := strings.ReplaceAll(err.Error(), ":"+password+"@", ":xxxxx@")
	if plain, e := url.PathUnescape(password); e == nil {
		text = strings.ReplaceAll(text, ":"+plain+"@", ":xxxxx@")
	}
	if text == err.Error() {
		return err
	}
	return &worded{text, err}
}
