package connect

import (
	"context"
	"crypto/tls"
	"net"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/mdb"
)

// probe sends hello to one server. It needs no credentials. The error is that of the first attempt.
func probe(ctx context.Context, host string, config *tls.Config) (Server, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	client, err := mongo.Connect(options.Client().SetHosts([]string{withPort(host)}).SetDirect(true).SetTLSConfig(config).
		SetServerMonitor(&event.ServerMonitor{ServerHeartbeatFailed: func(e *event.ServerHeartbeatFailedEvent) { cancel(e.Failure) }}))
	if err != nil {
		return Server{}, err
	}
	defer func() { _ = Disconnect(client) }()
	h, err := askHello(ctx, client)
	if err != nil && ctx.Err() != nil {
		return h, context.Cause(ctx)
	}
	return h, err
}

func withPort(host string) string {
	if _, _, err := net.SplitHostPort(host); err != nil {
		return net.JoinHostPort(host, "27017")
	}
	return host
}

func askHello(ctx context.Context, client *mongo.Client) (Server, error) {
	var h Server
	err := client.Database("admin").RunCommand(ctx, mdb.Doc("hello", 1)).Decode(&h)
	return h, err
}
