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

// diagnosis is what the named servers say, asked one by one, when no primary answers.
type diagnosis struct {
	fault   error // why one of them cannot be used; nil where none has said
	healthy bool  // one of them can be used, as soon as there is a primary
}

// isFinal says whether it is no use to wait for a primary.
func (d diagnosis) isFinal() bool {
	return d.fault != nil && !d.healthy && !errors.Is(d.fault, social.ErrUnavailable)
}

// diagnose asks the first few of the named servers, all at once, for at most probeTimeout.
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

// examine asks one server. A server that does not answer has neither a fault nor health.
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
