package demo

// Texts returns all texts of the community's posts and comments, in no particular order.
func Texts() []string {
	var texts []string
	for _, posts := range [][]post{wall, town} {
		for i := range posts {
			texts = append(texts, posts[i].content.Text())
			texts = appendTexts(texts, posts[i].comments)
		}
	}
	return texts
}

func appendTexts(texts []string, comments []comment) []string {
	for _, c := range comments {
		texts = appendTexts(append(texts, c.text), c.replies)
	}
	return texts
}
