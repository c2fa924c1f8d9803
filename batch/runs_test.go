package batch_test

import (
	"reflect"
	"testing"

	"plaza/batch"
)

func TestRunsSplitsBetweenDifferentKeys(t *testing.T) {
	t.Parallel()
	tens := func(n *int) int { return *n / 10 }
	for _, c := range []struct {
		list []int
		want [][]int
	}{
		{nil, nil},
		{[]int{7}, [][]int{{7}}},
		{[]int{1, 3, 2}, [][]int{{1, 3, 2}}},
		{[]int{1, 11, 12, 2, 25}, [][]int{{1}, {11, 12}, {2}, {25}}},
	} {
		if got := batch.Runs(c.list, tens); !reflect.DeepEqual(got, c.want) {
			t.Errorf("the runs of %v are %v, want %v", c.list, got, c.want)
		}
	}
}
