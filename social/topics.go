package social

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxTopic bounds a topic, in characters; what is longer is none.
const MaxTopic = 50

// Topics are what posts are about, as everybody may know: the hashtags of those that are PUBLIC, and the hosts of their links without "www.", in
// lower case, in the posts' order, each once, most of them at most. Other posts say nothing here, nor do comments.
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

// Breaks are the places in a list of posts behind which something else may stand: behind each every-th of those that are PUBLIC, so that no
// other post moves it; most of them at most.
func Breaks(posts []*Post, every, most int) []int {
	breaks, public := []int{}, 0
	for i, p := range posts {
		if p.Audience.Kind != AudiencePublic {
			continue
		}
		if public++; public%every == 0 && len(breaks) < most {
			breaks = append(breaks, i)
		}
	}
	return breaks
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

// hashtags are the words that stand behind a '#' and have a letter. One within a word, or within an address, is none.
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
