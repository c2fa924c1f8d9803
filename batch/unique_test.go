package batch_test

import (
	"testing"

	"plaza/batch"
)

func TestUniqueKeepsTheFirstOfEachKey(t *testing.T) {
	t.Parallel()
	same(t, batch.Unique([]int{3, 1, 3, 2, 1, 7, 3}), []int{3, 1, 2, 7})
	same(t, batch.Unique[int](nil), nil)
}
