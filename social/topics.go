package social

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxTopic limits a topic's length, in characters; longer ones are ignored.
const MaxTopic = 50

// Topics returns the topics of posts, all of which are public knowledge: the hashtags of PUBLIC
// posts, and the hosts of their links without "www.", in lower case, in the posts' order, without
// duplicates. most is the maximum number. Other posts and comments are ignored.
func Topics(posts []*Post, most int) []string {
	topics := []string{}
	for _, p := range posts {
		if p.Audience.Kind != AudiencePublic {
			continue
		}
		for _, topic := range p.Content.topics() {
			topic = strings.ToLower(topic)
			if len(topics) < most && utf8.RuneCountInString(topic) <= MaxTopic && !slices.Contains(topics, topic) {
				topics = append(topics, topic)
			}
		}
	}
	return topics
}

func (c Content) topics() []string {
	topics := hashtags(c.Text())
	if c.Link == nil {
		return topics
	}
	at, err := url.Parse(c.Link.URL)
	if err != nil {
		return topics
	}
	host := strings.TrimPrefix(at.Hostname(), "www.")
	if host == "" || strings.ContainsFunc(host, func(r rune) bool { return r != '.' && r != '-' && !inWord(r) }) {
		return topics
	}
	return append(topics, host)
}

// hashtags returns the words that follow a '#' and contain a letter, except those within a word or
// an address.
func hashtags(text string) (tags []string) {
	for {
		before, after, found := strings.Cut(text, "#")
		if !found {
			return tags
		}
		end := strings.IndexFunc(after, func(r rune) bool { return !inWord(r) })
		if end < 0 {
			end = len(after)
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		if tag := after[:end]; !inWord(last) && last != '/' && strings.ContainsFunc(tag, unicode.IsLetter) {
			tags = append(tags, tag)
		}
		text = after[end:]
	}
}

func inWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}
