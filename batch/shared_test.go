package batch_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"plaza/batch"
)

func TestCallsForOneKeyShareItsNextRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var begun []string
		proceed := make(chan struct{})
		shared := batch.NewShared(func(_ context.Context, key string) (string, error) {
			mu.Lock()
			begun = append(begun, key)
			answer := fmt.Sprintf("%s in read %d", key, len(begun))
			mu.Unlock()
			<-proceed
			return answer, nil
		})
		var calls sync.WaitGroup
		answers := make(chan string, 8)
		ask := func(keys ...string) {
			for _, key := range keys {
				calls.Go(func() {
					value, err := shared.Read(t.Context(), key)
					answers <- fmt.Sprint(value, " ", err)
				})
				synctest.Wait()
			}
		}
		ask("hot", "hot", "hot", "cold")
		if got := strings.Join(begun, " "); got != "hot cold" {
			t.Fatalf("begun: %s", got)
		}
		close(proceed)
		calls.Wait()
		ask("hot")
		calls.Wait()
		close(answers)
		got := slices.Sorted(func(yield func(string) bool) {
			for answer := range answers {
				yield(answer)
			}
		})
		want := []string{"cold in read 2 <nil>", "hot in read 1 <nil>", "hot in read 3 <nil>", "hot in read 3 <nil>", "hot in read 4 <nil>"}
		same(t, got, want)
	})
}
