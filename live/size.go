package live

import "plaza/social/network"

// What an entry takes in memory besides its texts, roughly: an update with its maps, and a comment
// in the preview of a post.
const (
	updateSize  = 1 << 10
	commentSize = 256
	actSize     = 64
)

// sizeOf estimates how much memory a sighting takes that no other subscription shares, in bytes. It
// leaves out the post of a comment, which is the same for the whole page.
func sizeOf(g *network.Sighting) int {
	size := updateSize
	for _, person := range g.People {
		size += len(person.Name) + len(person.Bio) + len(person.AvatarURL)
	}
	switch {
	case g.Comment != nil:
		size += commentSize + g.Comment.TextLen()
	case g.Post != nil:
		size += commentSize*len(g.Post.Latest) + g.Post.TextLen()
	case g.Notification != nil:
		size += actSize * len(g.Notification.Acts)
	}
	return size
}
