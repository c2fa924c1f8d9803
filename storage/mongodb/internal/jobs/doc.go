// Package jobs is a durable queue for work in the background: a collection of MongoDB, and workers
// in every server that take jobs from it.
//
// [Queue.Add] stores jobs in the transaction that causes them, so a job exists exactly if its cause
// was committed. The workers of that server do it, if few of its jobs are waiting; otherwise any
// worker leases the job that has been due for longest ([Queue.Next]). If a worker's server dies, the
// lease ends after [LeaseTime], and another worker does the job again. So every job must be safe to
// repeat. A job that fails is retried after a growing pause, and is given up after [MaxAttempts].
// Outages of the database do not count as failures.
//
// The packages above define what a kind of job does, and pass that to [NewWorkers]. A job that has
// done only a part of its work returns [ErrMore].
package jobs
