package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

const known = `INSERT INTO idem_record (scope, key, state, fence, owner, lease_until, created_at, updated_at, expires_at) VALUES
	('payments', 'k', 1, 7, 'worker-1', now() + interval '1 hour', now(), now(), now() + interval '14 days'),
	('mail', 'k', 2, 1, '', NULL, now(), now(), now() + interval '14 days')`

func TestWhatIsKnownOfAKeyInEachScope(t *testing.T) {
	t.Parallel()
	dsn := operated(t, known)
	stdout, stderr, code := invoke(t, "dedup", "show", "k", "--dsn", dsn)
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "PROCESSING, held by worker-1 until ")
	assert.Contains(t, stdout, "SUCCESS: it had its effect")
	stdout, _, _ = invoke(t, "dedup", "show", "k", "other", "--scope", "mail", "--dsn", dsn, "--output", "json")
	require.Len(t, objects(t, stdout), 1)
	assert.Equal(t, "SUCCESS", objects(t, stdout)[0]["state"])
	for args, want := range map[string]string{
		"show k --scope payment":                          "nothing is known of k: none has the scope payment; did you mean payments?\n",
		"show k --scope orders":                           "nothing is known of k: none has the scope orders; there are mail, payments\n",
		"show other --scope mail":                         "nothing is known of other: it is new, ",
		"release k --scope payment --reason r --yes":      "there is nothing to do: none has the scope payment; did you mean payments?: nothing was changed\n",
		"release other --scope payments --reason r --yes": "there is nothing to do: nothing was changed\n",
	} {
		_, stderr, code := invoke(t, append(strings.Fields("dedup "+args), "--dsn", dsn)...)
		assert.Equal(t, exitNo, code, args)
		assert.Contains(t, stderr, want, args)
	}
	_, stderr, code = invoke(t, "dedup", "show", "other", "--dsn", dsn)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "nothing is known of other")
}

func TestAClaimIsReleasedAndItsHolderFencedOut(t *testing.T) {
	t.Parallel()
	dsn := operated(t, known)
	_, stderr, code := invoke(t, "dedup", "release", "k", "--scope", "mail", "--dsn", dsn, "--reason", "r", "--yes")
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "k is SUCCESS: it had its effect, and stays")
	stdout, stderr, code := invoke(t, "dedup", "release", "k", "--scope", "payments", "--dsn", dsn, "--reason", "worker-1 is gone", "--yes")
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "released 1\n", stdout)
	s := opened(t, dsn)
	grants, err := s.Claim(t.Context(), []store.Claim{{Scope: "payments", Key: "k", Owner: "worker-2", MaxAttempts: 9, Lease: 1 << 40}})
	require.NoError(t, err)
	require.Equal(t, idem.AdmitProceed, grants[0].Kind)
	done, err := s.Complete(t.Context(), []store.Completion{{Lease: store.Lease{Scope: "payments", Key: "k", Fence: 7, Owner: "worker-1"}}})
	require.NoError(t, err)
	assert.Equal(t, []bool{false}, done)
}

func TestAKeyIsForgottenWhereASecondEffectIsMeant(t *testing.T) {
	t.Parallel()
	dsn := operated(t, known)
	forget := []string{"dedup", "forget", "k", "none", "--scope", "mail", "--dsn", dsn, "--reason", "r", "--yes"}
	_, stderr, code := invoke(t, forget...)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "no --allow-second-effect")
	stdout, stderr, code := invoke(t, append(forget, "--dry-run")...)
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stderr, "1 would be forgotten")
	assert.Contains(t, stdout, "SUCCESS")
	stdout, stderr, code = invoke(t, append(forget, "--allow-second-effect")...)
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "forgotten 1\n", stdout)
	assert.Contains(t, stderr, "nothing is known of none")
	assert.Equal(t, []string{"scope=mail keys k allow-second-effect"}, query(t, dsn, "SELECT target FROM idem_operation"))
	assert.Equal(t, []string{"3"}, query(t, dsn, "SELECT state FROM idem_record WHERE scope = 'mail'"))
}
