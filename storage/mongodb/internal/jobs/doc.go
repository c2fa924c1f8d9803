// Package jobs is the durable queue of work that is done after the answer: a collection of MongoDB,
// and workers of every server that take jobs from it.
//
// [Queue.Add] stores jobs in the transaction of their cause, so none is lost and none is stored
// without its cause. A worker leases the job that has been due for longest ([Queue.Claim]). When
// its server dies, the lease ends after [LeaseTime], and another worker does the job again: so
// every job can be repeated. One that fails comes back after a pause that grows, and is given up
// after [MaxAttempts]; an outage of the database does not count for that.
//
// What a kind of job does is the business of the packages above, which hand it to [NewWorkers]. A
// job that has done a part of its work returns [ErrMore].
package jobs
