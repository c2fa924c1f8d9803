package recent

import (
	"container/heap"
	"slices"

	"plaza/social"
)

// merger merges sorted lists of ids, oldest first. It is a heap: its first list has the next id.
type merger struct {
	lists       [][]social.PostID
	oldestFirst bool // which end of the lists is merged
}

func (m *merger) add(list []social.PostID) {
	if len(list) > 0 {
		m.lists = append(m.lists, list)
	}
}

// first returns the first ids of all lists, at most a number of them, newest first.
func (m *merger) first(limit int) []social.PostID {
	heap.Init(m)
	var ids []social.PostID
	for len(m.lists) > 0 && len(ids) < limit {
		ids = append(ids, m.next(0))
		m.advance()
	}
	if m.oldestFirst {
		slices.Reverse(ids)
	}
	return ids
}

// next returns a list's next id.
func (m *merger) next(i int) social.PostID {
	if m.oldestFirst {
		return m.lists[i][0]
	}
	return m.lists[i][len(m.lists[i])-1]
}

// advance removes the next id of the first list.
func (m *merger) advance() {
	list := m.lists[0]
	switch {
	case len(list) == 1:
		heap.Pop(m)
		return
	case m.oldestFirst:
		m.lists[0] = list[1:]
	default:
		m.lists[0] = list[:len(list)-1]
	}
	heap.Fix(m, 0)
}

// Len implements heap.Interface.
func (m *merger) Len() int { return len(m.lists) }

// Less implements heap.Interface.
func (m *merger) Less(i, j int) bool {
	if m.oldestFirst {
		i, j = j, i
	}
	return m.next(i).Compare(m.next(j).ID) > 0
}

// Swap implements heap.Interface.
func (m *merger) Swap(i, j int) { m.lists[i], m.lists[j] = m.lists[j], m.lists[i] }

// Push implements heap.Interface. Nothing calls it: all lists are there when the merge begins.
func (m *merger) Push(list any) {
	if ids, ok := list.([]social.PostID); ok {
		m.add(ids)
	}
}

// Pop implements heap.Interface.
func (m *merger) Pop() any {
	last := m.lists[len(m.lists)-1]
	m.lists = m.lists[:len(m.lists)-1]
	return last
}
