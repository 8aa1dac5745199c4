package idemhttp_test

import (
	"net/http"
	"testing"

	"github.com/idem-spec/idem/runtime/go/idemhttp"
	"github.com/idem-spec/idem/runtime/go/internal/replay"
	"github.com/stretchr/testify/assert"
)

// scopesOf is the scope of a request's record.
func scopesOf(t *testing.T, c idemhttp.Config, r *http.Request) string {
	t.Helper()
	principal, err := c.Principal(r)
	assert.NoError(t, err)
	engine := replay.Engine{Service: c.Service}
	return engine.Scope(&replay.Call{Principal: principal, Method: r.Method, Route: r.Pattern})
}
