package mongotest

import "go.mongodb.org/mongo-driver/v2/event"

// IsHeartbeat says whether a store has sent the command to say that it lives, and to look for changed settings: it does so beside everything else.
func IsHeartbeat(e *event.CommandStartedEvent) bool {
	collection, _ := e.Command.Lookup(e.CommandName).StringValueOK()

	return collection == "servers" || collection == "settings"
}
