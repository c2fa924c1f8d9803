package connect

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"plaza/social"
)

const (
	probeTimeout = 2 * time.Second
	probedHosts  = 3
)

// diagnosis is what the servers in the URI answer, each asked directly, when no primary answers.
type diagnosis struct {
	fault   error // why one of them cannot be used; nil if no reason was found
	healthy bool  // one of them can be used, as soon as there is a primary
}

// isFinal reports whether waiting for a primary is useless.
func (d diagnosis) isFinal() bool {
	return d.fault != nil && !d.healthy && !errors.Is(d.fault, social.ErrUnavailable)
}

// diagnose asks the first few servers of the URI concurrently, for at most probeTimeout.
func (a Address) diagnose(ctx context.Context) (d diagnosis) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	hosts := a.Hosts[:min(len(a.Hosts), probedHosts)]
	found := make([]diagnosis, len(hosts))
	var all sync.WaitGroup
	for i, host := range hosts {
		all.Go(func() { found[i] = a.examine(ctx, host) })
	}
	all.Wait()
	for _, one := range found {
		d.healthy = d.healthy || one.healthy
		if d.fault == nil {
			d.fault = one.fault
		}
	}
	return d
}

// examine asks one server. If the server does not answer, it is neither faulty nor healthy.
func (a Address) examine(ctx context.Context, host string) diagnosis {
	h, err := probe(ctx, host, a.TLS)
	if err != nil {
		return diagnosis{fault: a.explainTLS(ctx, host, err)}
	}
	if err := h.check(); err != nil {
		return diagnosis{fault: err}
	}
	if a.replicaSet != "" && h.SetName != a.replicaSet {
		return diagnosis{fault: fmt.Errorf("the replica set of the MongoDB server at %s is named %q, but the URI says replicaSet=%s",
			host, h.SetName, a.replicaSet)}
	}
	return diagnosis{healthy: true}
}
