package idemhttp_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/idem-spec/idem/runtime/go/idemhttp"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func Example() {
	idempotent, err := idemhttp.New(idemhttp.Config{
		Store:     memory.New(memory.Config{}), // sqlite, postgres or redis where it has to outlive the process
		Service:   "payments",
		Principal: func(r *http.Request) (string, error) { return r.Header.Get("User"), nil }, // what your authentication says
	})
	if err != nil {
		panic(err)
	}
	payments := 0
	mux := http.NewServeMux()
	mux.Handle("POST /payments", idempotent.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		payments++
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "payment %d of key %s", payments, idemhttp.KeyOf(r.Context()))
	})))
	server := httptest.NewServer(mux)
	defer server.Close()

	for range 2 {
		r, _ := http.NewRequest(http.MethodPost, server.URL+"/payments", strings.NewReader("100 EUR"))
		r.Header.Set("User", "ann")
		r.Header.Set("Idempotency-Key", `"order-8317"`)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			panic(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		fmt.Printf("%d %s, replayed: %t\n", response.StatusCode, body, response.Header.Get("Idempotency-Replayed") == "true")
	}
	// Output:
	// 201 payment 1 of key order-8317, replayed: false
	// 201 payment 1 of key order-8317, replayed: true
}
