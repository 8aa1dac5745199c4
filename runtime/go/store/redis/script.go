package redis

import (
	"context"
	"crypto/rand"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	spec "github.com/idem-spec/idem/spec/redis"
)

// script is a Lua text with the digest by which a server knows it.
type script struct{ text, digest string }

func newScript(text string) script {
	sum := sha1.Sum([]byte(text))
	return script{text, hex.EncodeToString(sum[:])}
}

var (
	claimScript    = newScript(spec.Claim)
	completeScript = newScript(spec.Complete)
	settleScript   = newScript(spec.Settle)
	renewScript    = newScript(spec.Renew)
	forgetScript   = newScript(spec.Forget)

	lookScript       = newScript(spec.HintLook)
	succeedScript    = newScript(spec.HintSucceed)
	failScript       = newScript(spec.HintFail)
	extendScript     = newScript(spec.HintExtend)
	forgetHintScript = newScript(spec.HintForget)
)

// call is one run of a script.
type call struct {
	keys []string
	args []any
}

// pipelined is the most calls that are sent before replies are read.
const pipelined = 1000

// runner runs scripts.
type runner struct{ client redis.UniversalClient }

// run sends the calls together, in their order for each key. A server that does not know the script yet, a
// new one or one that was restarted, is given it. An error says nothing of the calls: each may have been done.
func (r runner) run(ctx context.Context, s *script, calls []call) ([]*redis.Cmd, error) {
	replies := make([]*redis.Cmd, 0, len(calls))
	for len(calls) > 0 {
		n := min(len(calls), pipelined)
		part, err := r.runPart(ctx, s, calls[:n])
		if err != nil {
			return nil, err
		}
		replies, calls = append(replies, part...), calls[n:]
	}
	return replies, nil
}

func (r runner) runPart(ctx context.Context, s *script, calls []call) ([]*redis.Cmd, error) {
	replies, err := r.send(ctx, calls, func(c redis.Cmdable, x *call) *redis.Cmd { return c.EvalSha(ctx, s.digest, x.keys, x.args...) })
	if err == nil || !isNoScript(err) {
		return replies, err
	}
	if err := r.client.ScriptLoad(ctx, s.text).Err(); err != nil {
		return nil, err
	}
	var missing []int
	var again []call
	for i, reply := range replies {
		if err := reply.Err(); isNoScript(err) {
			missing, again = append(missing, i), append(again, calls[i])
		} else if err != nil {
			return nil, err
		}
	}
	// EVAL needs nothing from the server: one that was promoted just now does not know the script either.
	rest, err := r.send(ctx, again, func(c redis.Cmdable, x *call) *redis.Cmd { return c.Eval(ctx, s.text, x.keys, x.args...) })
	if err != nil {
		return nil, err
	}
	for n, i := range missing {
		replies[i] = rest[n]
	}
	return replies, nil
}

func (r runner) send(ctx context.Context, calls []call, command func(redis.Cmdable, *call) *redis.Cmd) ([]*redis.Cmd, error) {
	if len(calls) == 1 {
		reply := command(r.client, &calls[0])
		return []*redis.Cmd{reply}, reply.Err()
	}
	replies := make([]*redis.Cmd, len(calls))
	pipe := r.client.Pipeline()
	for i := range calls {
		replies[i] = command(pipe, &calls[i])
	}
	_, err := pipe.Exec(ctx)
	if isNoScript(err) { // the first error; one of another kind counts more
		for _, reply := range replies {
			if e := reply.Err(); e != nil && !isNoScript(e) {
				return replies, e
			}
		}
	}
	return replies, err
}

func isNoScript(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") }

// yes reads the replies of scripts that answer 1 or 0.
func yes(replies []*redis.Cmd) ([]bool, error) {
	answers := make([]bool, len(replies))
	for i, reply := range replies {
		text, err := reply.Text()
		if err != nil {
			return nil, fmt.Errorf("reply %d: %w", i, err)
		}
		answers[i] = text == "1"
	}
	return answers, nil
}

// texts reads a reply that is an array of n strings.
func texts(reply *redis.Cmd, n int) ([]string, error) {
	values, err := reply.StringSlice()
	if err == nil && len(values) != n {
		err = fmt.Errorf("%d values, and %d were expected", len(values), n)
	}
	return values, err
}

// token is a random one, for one call.
func token() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
