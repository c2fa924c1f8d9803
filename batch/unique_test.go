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

func TestWithoutKeepsTheOthersInOrder(t *testing.T) {
	t.Parallel()
	keys := []int{3, 1, 2, 3, 7}
	same(t, batch.Without(keys, []int{3, 2, 9}), []int{1, 7})
	same(t, batch.Without(keys, nil), keys)
	same(t, keys, []int{3, 1, 2, 3, 7})
}
