package idemhttp

import (
	"net/http"
	"strings"
)

// announced are the names of the trailers that a header announces.
func announced(header http.Header) []string {
	var names []string
	for _, list := range header["Trailer"] {
		for name := range strings.SplitSeq(list, ",") {
			names = append(names, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	return names
}

// trailers are what the handler has set of them so far, announced or by http.TrailerPrefix, all by the prefix: so
// net/http sends them also where they are set before the body.
func (rec *recorder) trailers() http.Header {
	trailers := http.Header{}
	for name, values := range rec.header {
		if strings.HasPrefix(name, http.TrailerPrefix) {
			trailers[name] = values
		}
	}
	for _, name := range announced(rec.sent) {
		if values := rec.header[name]; len(values) > 0 {
			trailers[http.TrailerPrefix+name] = values
		}
	}
	return trailers
}
