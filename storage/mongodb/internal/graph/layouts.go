package graph

import "go.mongodb.org/mongo-driver/v2/mongo"

// Maker makes a layout.
type Maker func(edges *mongo.Collection) Layout

// Layouts returns what makes each layout, by name.
func Layouts() map[string]Maker {
	return map[string]Maker{
		Reverse: func(edges *mongo.Collection) Layout { return reverseGraph{edges} },
		Two: func(edges *mongo.Collection) Layout {
			return twoGraph{mirror: edges.Database().Collection("followers")}
		},
	}
}
