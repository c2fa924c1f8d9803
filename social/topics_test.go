package social_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"plaza/social"
)

func saying(kind social.AudienceKind, texts ...string) (posts []*social.Post) {
	for _, text := range texts {
		posts = append(posts, &social.Post{Audience: social.Audience{Kind: kind}, Content: social.Content{Status: &social.Status{Text: text}}})
	}
	return posts
}

func linking(urls ...string) (posts []*social.Post) {
	for _, url := range urls {
		posts = append(posts, &social.Post{Audience: social.Audience{Kind: social.AudiencePublic}, Content: social.Content{Link: &social.Link{URL: url}}})
	}
	return posts
}

func TestTopicsAreHashtagsAndHosts(t *testing.T) {
	long := strings.Repeat("ä", social.MaxTopic)
	for _, c := range []struct {
		posts []*social.Post
		want  []string
	}{
		{saying(social.AudiencePublic, "no tags", "#", "# x", "#1 #2026", "a#b", "https://a.example/#top", "##"), nil},
		{saying(social.AudiencePublic, "#Anvil and #anvil, #Heavy_Load2!", "(#naïve)#next"), []string{"anvil", "heavy_load2", "naïve", "next"}},
		{saying(social.AudiencePublic, "#हिन्दी #日本語 #"+long+" #"+long+"x"), []string{"हिन्दी", "日本語", long}},
		{saying(social.AudiencePublic, "#a,b #c\x00d #e\u2028"), []string{"a", "c", "e"}},
		{linking("https://www.Example.org:8443/#x", "http://a,b.example/", "http://[::1]/", "https://bücher.example/"), []string{"example.org", "bücher.example"}},
		{linking("https://" + strings.Repeat("a", social.MaxTopic) + ".example/"), nil},
		{saying(social.AudienceCircles, "#a"), nil},
		{saying(social.AudienceListed, "#a"), nil},
		{saying(social.AudienceOnlyMe, "#a"), nil},
		{saying("", "#a"), nil},
	} {
		if got := social.Topics(c.posts, 100); !slices.Equal(got, c.want) {
			t.Errorf("%q: the topics are %q, want %q", c.posts[0].Content.Text(), got, c.want)
		}
	}
	if got := social.Topics(saying(social.AudiencePublic, "#b #a #b #c", "#d"), 3); !slices.Equal(got, []string{"b", "a", "c"}) {
		t.Errorf("the first three topics are %q", got)
	}
}

func FuzzTopics(f *testing.F) {
	f.Add("#a #ß #İ", "https://a.example/")
	f.Fuzz(func(t *testing.T, text, url string) {
		for _, topic := range social.Topics(append(saying(social.AudiencePublic, text), linking(url)...), 50) {
			n := utf8.RuneCountInString(topic)
			if n < 1 || n > social.MaxTopic || !utf8.ValidString(topic) || strings.ContainsAny(topic, ", \t\n#") || strings.ToLower(topic) != topic {
				t.Errorf("%q is a topic of %q and %q", topic, text, url)
			}
		}
	})
}
