package checklist

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCallsAreOfTheMessageThatTheyName, also where one id is within another.
func TestCallsAreOfTheMessageThatTheyName(t *testing.T) {
	d, err := newDownstream(Answer{Status: 200})
	require.NoError(t, err)
	defer d.close()
	for n := range 30 {
		d.knows(&made{id: fmt.Sprint("f-", n), key: fmt.Sprint("k:", n)})
	}
	for range 20 {
		answer, err := http.Get(d.url + "/pay/f-12")
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
	}
	require.Len(t, d.of("f-12"), 20)
}
