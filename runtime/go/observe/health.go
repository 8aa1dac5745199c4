package observe

import (
	"encoding/json"
	"net/http"
)

// HealthHandler answers 200 {"status":"ok"} while check returns nil, and 503 {"status":"unhealthy","error":...}
// otherwise, or where check panics. check is called for each request, from many goroutines, and should answer
// within the prober's patience. The error's text is shown: put the handler where only operators are.
func HealthHandler(check func() error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, status := map[string]string{"status": "ok"}, http.StatusOK
		if reason := unhealthy(check); reason != "" {
			answer, status = map[string]string{"status": "unhealthy", "error": reason}, http.StatusServiceUnavailable
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			_ = json.NewEncoder(w).Encode(answer)
		}
	})
}

func unhealthy(check func() error) (reason string) {
	defer func() {
		if recover() != nil {
			reason = "the health check panicked"
		}
	}()
	if err := check(); err != nil {
		return err.Error()
	}
	return ""
}
