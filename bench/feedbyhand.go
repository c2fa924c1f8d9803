package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"plaza/bench/byhand"
	"plaza/bench/measure"
	"plaza/id"
	"plaza/social"
)

// handRival is the site that is written by hand, with the same people and posts.
type handRival struct {
	*Rival
	site *byhand.Site
}

const (
	byHand     = "by hand"
	byHandByID = "by hand, authors by id"

	pageOfNews   = 20
	pageOfThread = 50
)

// writeByHand stores the posts, their comments and the news of all readers, as Plaza shows them.
func (s *feedScene) writeByHand(ctx context.Context, arena *Arena) error {
	rival, err := arena.OpenBare(ctx, "feeds", byHand)
	if err != nil {
		return err
	}
	people := make([]social.User, s.network.people)
	for n := range people {
		people[n] = newPerson(n).User
	}
	site, err := byhand.Open(ctx, rival.database, people)
	if err != nil {
		return err
	}
	s.hand = &handRival{rival, site}
	err = inParallel(ctx, len(s.posts), func(ctx context.Context, i int) error {
		if err := site.Publish(ctx, s.posts[i]); err != nil {
			return err
		}
		for _, c := range s.replies[i] {
			if err := site.Reply(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := site.Normalise(ctx, s.discussed.ID); err != nil {
		return err
	}
	return inParallel(ctx, len(s.readers), func(ctx context.Context, i int) error {
		posts, err := s.newsOf(ctx, s.readers[i])
		if err != nil {
			return err
		}
		return site.Keep(ctx, person(s.readers[i]), posts)
	})
}

// newsOf returns the ids of up to a hundred posts in a reader's news, by Plaza's rules.
func (s *feedScene) newsOf(ctx context.Context, reader int) (posts []string, err error) {
	answer, err := s.rivals[0].do(ctx, tokenOf(reader), body(`{ viewer { news(first: 100) { nodes { id } } } }`, nil))
	if err != nil {
		return nil, err
	}
	nodes, err := nodesOf(answer, "viewer", "news")
	if err != nil {
		return nil, err
	}
	var shown []byhand.Post
	err = json.Unmarshal(nodes, &shown)
	for i := range shown {
		posts = append(posts, shown[i].ID)
	}
	return posts, err
}

// sameByHand checks that the pages by hand show what Plaza's show.
func (s *feedScene) sameByHand(ctx context.Context) error {
	for _, reader := range s.readers {
		plaza, err := s.rivals[0].do(ctx, tokenOf(reader), newsPage1)
		if err != nil {
			return err
		}
		hand, err := s.hand.site.News(ctx, person(reader), pageOfNews)
		if err != nil {
			return err
		}
		if err := sameNodes[byhand.Post](plaza, hand, "viewer", "news"); err != nil {
			return fmt.Errorf("the news of %s: %w", handle(reader), err)
		}
	}
	plaza, err := s.rivals[0].do(ctx, s.reader(0), s.threadPage())
	if err != nil {
		return err
	}
	for _, read := range []threadReader{s.hand.site.Thread, s.hand.site.NormalisedThread} {
		hand, err := read(ctx, s.discussed.ID, pageOfThread)
		if err != nil {
			return err
		}
		if err := sameNodes[byhand.Comment](plaza, hand, "post", "comments"); err != nil {
			return err
		}
	}
	return nil
}

// threadReader is a way in which the site reads a thread.
type threadReader func(ctx context.Context, post social.PostID, first int) ([]byte, error)

// sameNodes compares the nodes of a connection in Plaza's answer with a page by hand.
func sameNodes[T any](plaza, hand []byte, path ...string) error {
	nodes, err := nodesOf(plaza, path...)
	if err != nil {
		return err
	}
	var want, got []T
	if err := errors.Join(json.Unmarshal(nodes, &want), json.Unmarshal(hand, &got)); err != nil {
		return err
	}
	if len(want) == 0 || !reflect.DeepEqual(got, want) {
		return fmt.Errorf("the page by hand differs:\n%.2000s\n%.2000s", nodes, hand)
	}
	return nil
}

// nodesOf returns the nodes of a connection in Plaza's answer.
func nodesOf(answer json.RawMessage, path ...string) (json.RawMessage, error) {
	for _, name := range slices.Concat([]string{"data"}, path, []string{"nodes"}) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(answer, &fields); err != nil {
			return nil, err
		}
		answer = fields[name]
	}
	return answer, nil
}

// byHandTurn returns the turn of the site that is written by hand.
func (s *feedScene) byHandTurn(do func(ctx context.Context, site *byhand.Site, n int) error) measure.Turn {
	return measure.Turn{Rival: byHand, Wire: s.hand.Wire, Do: func(ctx context.Context, n int) error { return do(ctx, s.hand.site, n) }}
}

func (s *feedScene) newsByHand() measure.Turn {
	return s.byHandTurn(func(ctx context.Context, site *byhand.Site, n int) error {
		_, err := site.News(ctx, person(s.readers[n%len(s.readers)]), pageOfNews)
		return err
	})
}

func (s *feedScene) threadByHand(rival string, read threadReader) measure.Turn {
	turn := s.byHandTurn(func(ctx context.Context, _ *byhand.Site, _ int) error {
		_, err := read(ctx, s.discussed.ID, pageOfThread)
		return err
	})
	turn.Rival = rival
	return turn
}

func (s *feedScene) postByHand() measure.Turn {
	return s.byHandTurn(func(ctx context.Context, site *byhand.Site, _ int) error {
		return site.Publish(ctx, &social.Post{
			ID: social.PostID{ID: id.New()}, Author: person(s.loner), Content: social.Content{Status: &social.Status{Text: aPostText}},
		})
	})
}

func (s *feedScene) commentByHand() measure.Turn {
	return s.byHandTurn(func(ctx context.Context, site *byhand.Site, n int) error {
		c := newComment(s.aPublic(n).ID, nil, social.CommentID{ID: id.New()}, person(s.readers[n%len(s.readers)]), aReplyText)
		return site.Reply(ctx, c)
	})
}
