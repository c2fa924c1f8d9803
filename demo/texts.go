package demo

// Texts are all that people say in the community, in posts and comments, in no order.
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
