package demo

import (
	"fmt"
	"time"

	"plaza/id"
)

// namespace keeps the derived ids apart from all others.
const namespace = "plaza/demo/"

// derive returns the id that a step gives to the nth object that it creates.
func derive(at time.Time, name string, n int) id.ID {
	return id.Derive(at.Add(time.Duration(n)*time.Millisecond), fmt.Sprintf("%s%s/%d", namespace, name, n))
}
