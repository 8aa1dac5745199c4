package redis

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/store/storetest"
)

func TestStoreOnMiniredis(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, clock *storetest.Clock) storetest.Subject {
		m, c := mini(t)
		m.SetTime(clock.Now())
		advance := func(d time.Duration) {
			clock.Advance(d)
			m.SetTime(clock.Now())
		}
		other := redis.NewClient(c.Options())
		t.Cleanup(func() { _ = other.Close() })
		return storetest.Subject{
			Store: New(c, Config{}), Other: New(other, Config{}), Advance: advance, Seeds: 5,
			Without: map[storetest.Capability]string{
				storetest.Cleaning:   "records expire by themselves",
				storetest.Tombstones: "records expire by themselves",
			},
		}
	})
}

func TestStoreOnRedis(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, _ *storetest.Clock) storetest.Subject {
		return storetest.Subject{
			Store: New(real(t), Config{}), OwnClock: true, Seeds: 10,
			Without: map[storetest.Capability]string{
				storetest.Cleaning:   "records expire by themselves",
				storetest.Tombstones: "records expire by themselves",
			},
		}
	})
}
