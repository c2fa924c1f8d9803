package sse

import (
	"sync/atomic"

	"plaza/transport/connections"
)

// operation is one whose request waits to hear whether it runs.
type operation struct {
	*connections.Operation

	readOnly bool          // asked for by GET
	outcome  chan *Failure // takes one: nil if the operation runs
	answered atomic.Bool   // outcome has it
}

// answer gives the request its answer, and returns false if it has one already.
func (op *operation) answer(failure *Failure) bool {
	if op.answered.Swap(true) {
		return false
	}
	op.outcome <- failure
	return true
}
