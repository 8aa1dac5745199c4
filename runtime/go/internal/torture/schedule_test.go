//go:build unix

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/idem-spec/idem/runtime/go/internal/plant"
)

func TestASeedGivesTheSameFaults(t *testing.T) {
	t.Parallel()
	p := planOf(&options{duration: 10 * time.Minute, promote: "auto"})
	assert.Equal(t, schedule(7, p), schedule(7, p))
	assert.NotEqual(t, schedule(7, p), schedule(8, p))
}

func TestALongRunHasEachFaultAndManyKills(t *testing.T) {
	t.Parallel()
	o := options{duration: 30 * time.Minute, promote: "auto"}
	for seed := range uint64(50) {
		counts := map[faultKind]int{}
		last := time.Duration(0)
		for _, f := range schedule(seed, planOf(&o)) {
			counts[f.kind]++
			assert.GreaterOrEqual(t, f.at, last)
			assert.Less(t, f.at, o.duration)
			last = f.at
		}
		assert.Greater(t, counts[kill], 300, "seed %d", seed)
		assert.Equal(t, 1, counts[promote])
		for _, kind := range kinds {
			assert.Positive(t, counts[kind], "%s of seed %d", kind, seed)
		}
	}
}

func TestNoDatabaseRestartsAroundAPromotion(t *testing.T) {
	t.Parallel()
	o := options{duration: 30 * time.Minute, promote: "auto"}
	for seed := range uint64(50) {
		for _, f := range schedule(seed, planOf(&o)) {
			if f.kind == database || f.kind == standby {
				away := f.at - o.duration/2
				assert.False(t, away > -45*time.Second && away < 20*time.Second, "%v of seed %d", f, seed)
			}
		}
	}
}

func TestEachPlantedBugHasFaultsThatShowIt(t *testing.T) {
	t.Parallel()
	for _, bug := range plant.Bugs() {
		all := schedule(1, planOf(&options{duration: time.Minute, bug: bug}))
		assert.NotEmpty(t, all, bug)
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	t.Parallel()
	for argument, want := range map[string]string{
		"--duration=1s": "at least 10s", "--plant=typo": "no-fence", "--rate=0": "at least 1",
	} {
		_, err := parseOptions([]string{argument})
		assert.ErrorContains(t, err, want)
	}
	_, err := parseOptions([]string{"more"})
	assert.ErrorContains(t, err, `"more"`)
}
