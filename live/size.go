package live

import (
	"plaza/social"
	"plaza/social/network"
)

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
		size += sizeOfComment(g.Comment)
	case g.Post != nil:
		size += sizeOfContent(g.Post.Content)
		for _, c := range g.Post.Latest {
			size += sizeOfComment(c)
		}
	case g.Notification != nil:
		size += actSize * len(g.Notification.Acts)
	}
	return size
}

func sizeOfComment(c *social.Comment) int {
	return commentSize + len(c.Text) + len(c.Path) + len(c.TreePath)
}

func sizeOfContent(c social.Content) int {
	size := len(c.Text())
	switch {
	case c.Photo != nil:
		size += len(c.Photo.URL) + len(c.Photo.Alt)
	case c.Link != nil:
		size += len(c.Link.URL) + len(c.Link.Title)
	case c.Checkin != nil:
		size += len(c.Checkin.Place)
		if c.Checkin.Photo != nil {
			size += len(c.Checkin.Photo.URL) + len(c.Checkin.Photo.Alt)
		}
	case c.Poll != nil:
		for _, option := range c.Poll.Options {
			size += len(option)
		}
	}
	return size
}
