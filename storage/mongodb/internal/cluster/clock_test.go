package cluster

import (
	"testing"
	"time"
)

func TestAClockLearnsTheDatabasesTime(t *testing.T) {
	t.Parallel()
	c, began := NewClock(time.Now), time.Now()
	learns := func(what string, database, took, want time.Duration) {
		t.Helper()
		c.learn(began.Add(database), began, began.Add(took))
		if c.Ahead() != want {
			t.Errorf("%s: the database is ahead by %v, want %v", what, c.Ahead(), want)
		}
	}
	learns("no difference shows", 3*time.Millisecond, 5*time.Millisecond, 0)
	learns("the database is ahead", 2*time.Hour, time.Second, 2*time.Hour-time.Second)
	learns("a slow answer tells less", 2*time.Hour, 10*time.Second, 2*time.Hour-time.Second)
	learns("a fast one tells more", 2*time.Hour, 10*time.Millisecond, 2*time.Hour-10*time.Millisecond)
	learns("another primary is behind", -time.Hour, 10*time.Millisecond, -time.Hour+time.Millisecond)
	learns("a clock was corrected", 0, 10*time.Millisecond, -10*time.Millisecond)
}
