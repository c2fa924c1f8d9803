package demo

import (
	"net/url"
	"strings"
)

// PicturesPath is the path at which Pictures must be served.
const PicturesPath = "/demo/pictures/"

// Names of pictures, below PicturesPath.
func avatarName(handle string) string { return "avatars/" + handle + ".svg" }
func photoName(name string) string    { return "photos/" + name + ".svg" }
func adPictureName(unit string) string {
	return "ads/" + unit + ".svg"
}

// address returns the address at which a server with a public URL serves a picture.
func address(publicURL, name string) string {
	return strings.TrimSuffix(publicURL, "/") + PicturesPath + name
}

// rehung returns the address of one of our pictures at the public URL, whatever server it was
// stored for. It returns false for all other addresses.
func rehung(publicURL, stored string) (string, bool) {
	at, err := url.Parse(stored)
	if err != nil {
		return "", false
	}
	_, name, ours := strings.Cut(at.Path, PicturesPath)
	return address(publicURL, name), ours
}
