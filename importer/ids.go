package importer

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"plaza/id"
	"plaza/social"
)

// collected is the creation time of everything in the data: the month in which the data was
// published.
var collected = time.Date(2012, time.December, 3, 12, 0, 0, 0, time.UTC)

// namespace keeps the derived ids apart from all others.
const namespace = "plaza/importer/ego-facebook/"

// UserID returns the id that a person of the data has on every server.
func UserID(p Person) social.UserID {
	return social.UserID{ID: id.Derive(collected, fmt.Sprintf("%suser/%d", namespace, p))}
}

// Handle returns the handle of a person in the data.
func Handle(p Person) string { return fmt.Sprintf("fb%d", p) }

// earlierBuiltInID returns the id that earlier versions gave to a person's built-in circle.
func earlierBuiltInID(p Person) social.CircleID {
	return social.CircleID{ID: id.Derive(collected, fmt.Sprintf("%suser/%d/following", namespace, p))}
}

// circleID returns the id of a circle that was made by hand. Circles are listed by their ids: after
// the built-in one, and circle2 before circle10.
func circleID(c Circle) social.CircleID {
	made := collected.Add(time.Second + time.Duration(number(c.Name))*time.Millisecond)
	return social.CircleID{ID: id.Derive(made, fmt.Sprintf("%suser/%d/circle/%s", namespace, c.Owner, c.key()))}
}

// number returns the number at the end of a name if it is small, otherwise 0.
func number(name string) int {
	const most = 9999
	n, err := strconv.Atoi(name[len(strings.TrimRight(name, "0123456789")):])
	if err != nil || n > most {
		return 0
	}
	return n
}

func edgeID(from, to Person) social.EdgeID {
	return social.EdgeID{ID: id.Derive(collected, fmt.Sprintf("%sfollow/%d/%d", namespace, from, to))}
}
