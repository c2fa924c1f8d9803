package bench

import (
	"context"
	"errors"
	"regexp"
	"slices"

	"plaza/bench/figures"
	"plaza/bench/measure"
	"plaza/bench/remembering"
	"plaza/social"
)

// postFields are the fields of each post on a page: text, author, count, and the last three
// comments with their authors.
const postFields = `__typename id text createdAt editedAt commentCount author { id handle name avatarUrl }
	latestComments { id text createdAt author { handle name } }`

const (
	newsQuery   = `query($after: String) { viewer { news(first: 20, after: $after) { nodes { ` + postFields + ` } pageInfo { hasNextPage endCursor } } } }`
	threadQuery = `query($id: ID!) { post(id: $id) { comments(first: 50) { nodes { id slug depth text createdAt isDeleted author { id handle name avatarUrl } } pageInfo { hasNextPage endCursor } } } }`
	wallQuery   = `query($handle: String!) { user(handle: $handle) { handle wall(first: 20) { nodes { ` + postFields + ` } pageInfo { hasNextPage endCursor } } } }`
	postQuery   = `mutation($input: CreatePostInput!) { createPost(input: $input) { post { id } userErrors { code message } } }`
	replyQuery  = `mutation($input: AddCommentInput!) { addComment(input: $input) { comment { id } userErrors { code message } } }`
	followQuery = `mutation($input: FollowUserInput!) { followUser(input: $input) { user { handle } userErrors { code message } } }`
	leaveQuery  = `mutation($input: UnfollowUserInput!) { unfollowUser(input: $input) { user { handle } userErrors { code message } } }`
)

var newsPage1 = body(newsQuery, nil)

// The calls of [Feeds].
const (
	callNews        = "news page"
	callNewsBusy    = "news page, 16 concurrent"
	callNewsRead    = "news page, no people cache"
	callReadBusy    = "news page, no people cache, 16 concurrent"
	callDeeper      = "news, fifth page"
	callWall        = "wall page"
	callThread      = "thread page"
	callThreadBusy  = "thread page, 16 concurrent"
	callPost        = "post, no followers"
	callPostBusy    = "post, no followers, 16 concurrent"
	callStar        = "post, very many followers"
	callFanOut      = "fan-out, each entry"
	callComment     = "comment"
	callCommentBusy = "comment, 16 concurrent"
	callFollow      = "follow and unfollow"
	callFollowNews  = "follow or unfollow, then news"

	memory = "from memory" // the rival that needs no database
)

func (s *feedScene) calls(ctx context.Context) ([]measure.Call, error) {
	if err := s.findDeeper(ctx); err != nil {
		return nil, err
	}
	walls := s.busiest()
	if err := s.warm(ctx, walls); err != nil {
		return nil, err
	}
	news := s.each(func(_ *feedRival, n int) (string, []byte) { return s.reader(n), newsPage1 })
	news = append(news, s.fromMemory(), s.newsByHand())
	thread := append(s.each(func(_ *feedRival, n int) (string, []byte) { return s.reader(n), s.threadPage() }),
		s.threadByHand(byHand, s.hand.site.Thread), s.threadByHand(byHandByID, s.hand.site.NormalisedThread))
	written := append(s.writing(func(*feedRival, int) (string, []byte) { return tokenOf(s.loner), aPost }), s.postByHand())
	replies := append(s.writing(func(_ *feedRival, n int) (string, []byte) { return s.reader(n), s.aReply(n) }), s.commentByHand())
	calls := []measure.Call{
		{Name: callNews, Turns: news},
		{Name: callNewsBusy, Turns: busy(news)},
		{Name: callNewsRead, Turns: s.uncached()},
		{Name: callReadBusy, Turns: busy(s.uncached())},
		{Name: callDeeper, Turns: s.each(func(r *feedRival, n int) (string, []byte) {
			return s.reader(n), r.deeper[n%len(r.deeper)]
		})},
		{Name: callWall, Turns: s.each(func(_ *feedRival, n int) (string, []byte) {
			return s.reader(n), walls[n%len(walls)]
		})},
		{Name: callThread, Turns: thread},
		{Name: callThreadBusy, Turns: busy(thread)},
		{Name: callPost, Most: 40, Turns: written},
		{Name: callPostBusy, Most: 160, Turns: busy(written)},
		{Name: callStar, Most: 5, Turns: s.writing(func(*feedRival, int) (string, []byte) { return tokenOf(s.star), aPost })},
		{Name: callComment, Most: 40, Turns: replies},
		{Name: callCommentBusy, Most: 160, Turns: busy(replies)},
		{Name: callFollow, Most: 40, Turns: s.twice(s.toggle)},
		{Name: callFollowNews, Most: 40, Turns: s.twice(s.toggle, func(n int) (string, []byte) { return s.reader(n / 2), newsPage1 })},
	}
	fanOut, err := s.fanOut(ctx)
	if err == nil && len(fanOut.Turns) > 0 {
		calls = append(calls, fanOut)
	}
	return calls, err
}

// warm reads each wall and thread once, so that the people on them are in memory. Those in the news
// are: sameNews has read them.
func (s *feedScene) warm(ctx context.Context, walls [][]byte) error {
	for _, r := range s.rivals {
		err := inParallel(ctx, len(s.readers), func(ctx context.Context, n int) error {
			_, wallErr := r.do(ctx, s.reader(n), walls[n%len(walls)])
			_, threadErr := r.do(ctx, s.reader(n), s.threadPage())
			return errors.Join(wallErr, threadErr)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *feedScene) reader(n int) string { return tokenOf(s.readers[n%len(s.readers)]) }

// request returns the user and the query of the n-th call.
type request func(r *feedRival, n int) (token string, body []byte)

func (s *feedScene) each(ask request) []measure.Turn {
	var turns []measure.Turn
	for _, r := range s.rivals {
		turns = append(turns, measure.Turn{Rival: r.Name, Wire: r.Wire, Do: func(ctx context.Context, n int) error {
			token, body := ask(r, n)
			_, err := r.do(ctx, token, body)
			return err
		}})
	}
	return turns
}

// uncached returns turns that read news from servers that keep no people in memory.
func (s *feedScene) uncached() []measure.Turn {
	var turns []measure.Turn
	for _, r := range s.rivals {
		turns = append(turns, measure.Turn{Rival: r.Name, Wire: r.Wire, Do: func(ctx context.Context, n int) error {
			_, err := r.uncached.do(ctx, s.reader(n), newsPage1)
			return err
		}})
	}
	return turns
}

// busy returns the turns with concurrent requests: the server always has something to do, and need
// not be woken up for each answer of the database.
func busy(turns []measure.Turn) []measure.Turn {
	turns = slices.Clone(turns)
	for i := range turns {
		turns[i].Goroutines = parallelCalls
	}
	return turns
}

// writing returns a turn for each rival, in which the work that writes leave for later is done
// between the turns.
func (s *feedScene) writing(ask request) []measure.Turn {
	turns := s.each(ask)
	for i, r := range s.rivals {
		turns[i].Rest = func(ctx context.Context) error { return social.WorkOff(ctx, r.store) }
	}
	return turns
}

// fromMemory returns a turn with the same schema, resolvers, rules and posts, over a store that has
// everything in memory.
func (s *feedScene) fromMemory() measure.Turn {
	first := s.rivals[0]
	c := client{s.o.Serve(remembering.New(first.store), false)}
	warm := false
	return measure.Turn{Rival: memory, Wire: first.Wire, Do: func(ctx context.Context, n int) error {
		if !warm { // everyone's page is read once before measuring
			for i := range s.readers {
				if _, err := c.do(ctx, s.reader(i), newsPage1); err != nil {
					return err
				}
			}
			warm = true
		}
		_, err := c.do(ctx, s.reader(n), newsPage1)
		return err
	}}
}

var endCursor = regexp.MustCompile(`"endCursor":"([^"]+)"`)

// findDeeper walks to each reader's fifth page, or the last one.
func (s *feedScene) findDeeper(ctx context.Context) error {
	const pages = 4
	for _, r := range s.rivals {
		r.deeper = make([][]byte, len(s.readers))
		err := inParallel(ctx, len(s.readers), func(ctx context.Context, n int) error {
			next := newsPage1
			for range pages {
				answer, err := r.do(ctx, s.reader(n), next)
				if err != nil {
					return err
				}
				if end := endCursor.FindSubmatch(answer); end != nil {
					next = body(newsQuery, map[string]any{"after": string(end[1])})
				}
			}
			r.deeper[n] = next
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// busiest returns requests for the walls with the most posts.
func (s *feedScene) busiest() [][]byte {
	posts := map[social.UserID]int{}
	for _, p := range s.posts {
		posts[p.Author]++
	}
	people := make([]int, s.network.people)
	for i := range people {
		people[i] = i
	}
	slices.SortStableFunc(people, func(a, b int) int { return posts[person(b)] - posts[person(a)] })
	var walls [][]byte
	for _, n := range people[:min(maxReaders, len(people))] {
		walls = append(walls, body(wallQuery, map[string]any{"handle": handle(n)}))
	}
	return walls
}

const (
	aPostText  = "The nine o'clock boat has the good light, and there is room on deck."
	aReplyText = "From here on every comment is one more. This is one of them."
)

var aPost = body(postQuery, map[string]any{"input": map[string]any{
	"content":  map[string]any{"status": map[string]any{"text": aPostText}},
	"audience": map[string]any{"kind": social.AudiencePublic},
}})

func (s *feedScene) aReply(n int) []byte {
	return body(replyQuery, map[string]any{"input": map[string]any{"postId": s.aPublic(n).ID.String(), "text": aReplyText}})
}

// aPublic returns a post that everyone sees.
func (s *feedScene) aPublic(n int) (p *social.Post) {
	for i := range s.posts {
		p = s.posts[(n*7+i)%len(s.posts)]
		if p.Audience.Kind == social.AudiencePublic {
			break
		}
	}
	return p
}

func (s *feedScene) threadPage() []byte {
	return body(threadQuery, map[string]any{"id": s.discussed.ID.String()})
}

// toggle lets a reader follow the loner with each even n, and unfollow with the next.
func (s *feedScene) toggle(n int) (string, []byte) {
	reader, query := n/2, followQuery
	if n%2 == 1 {
		query = leaveQuery
	}
	return s.reader(reader), body(query, map[string]any{"input": map[string]any{"userId": person(s.loner).String()}})
}

// twice sends the requests numbered 2n and 2n+1 in the n-th call, because the first function in
// asks alternates between two opposite requests.
func (s *feedScene) twice(asks ...func(n int) (string, []byte)) []measure.Turn {
	var turns []measure.Turn
	for _, r := range s.rivals {
		turns = append(turns, measure.Turn{
			Rival: r.Name, Wire: r.Wire,
			Do: func(ctx context.Context, n int) error {
				for _, there := range []int{2 * n, 2*n + 1} {
					for _, ask := range asks {
						token, body := ask(there)
						if _, err := r.do(ctx, token, body); err != nil {
							return err
						}
					}
				}
				return nil
			},
			Each: 2,
			Rest: func(ctx context.Context) error { return social.WorkOff(ctx, r.store) },
		})
	}
	return turns
}

// fanOut measures a post including its delivery to all fans, in the layouts that keep feeds.
func (s *feedScene) fanOut(ctx context.Context) (measure.Call, error) {
	call := measure.Call{Name: callFanOut, Most: 3}
	for _, r := range s.rivals {
		if _, err := r.do(ctx, tokenOf(s.popular), aPost); err != nil {
			return call, err
		}
		backlog, err := r.store.Backlog(ctx)
		if err != nil {
			return call, err
		}
		if backlog.Waiting == 0 {
			continue
		}
		if err := social.WorkOff(ctx, r.store); err != nil {
			return call, err
		}
		call.Turns = append(call.Turns, measure.Turn{
			Rival: r.Name, Wire: r.Wire, Each: len(s.fans),
			Do: func(ctx context.Context, _ int) error {
				if _, err := r.do(ctx, tokenOf(s.popular), aPost); err != nil {
					return err
				}
				return social.WorkOff(ctx, r.store)
			},
		})
	}
	return call, nil
}

const feedsNotes = `A page is 20 posts with author, number of comments and the last three of them with their authors; a request, one at a time where nothing else is said, runs through Plaza's HTTP handler, its rules and the
driver, in one process with the load generator and without a network. *Server* is the CPU time of that process, *mongod* that of the database, for each request (of *fan-out*, for
each entry); the medians of the rounds, in which all take turns, ± half the distance of the quartiles. *From memory* is the same handler over the same posts in Go's maps. *By hand* are the same pages and writes with MongoDB's driver alone: without sessions, rules, GraphQL, events and transactions, from a list of ids for each reader and posts that embed their author and latest comments. A thread page is the first 50 comments of a longer thread, with their authors; all readers read the same one. By hand, each comment embeds its author; *authors by id* reads them, like Plaza, so that a new name shows at once. Work that a request leaves for
later is done between the rounds; *fan-out* is a post with all of it. *Stored* is the database after loading, without the log of events, which is the same in all.`

// remark compares the figures with their targets.
func (s *feedScene) remark(section *figures.Section) {
	of := func(call, rival string) *measure.Result { return measure.Of(section.Results, call, rival) }
	for _, call := range []string{callNews, callNewsBusy} {
		for _, r := range s.rivals {
			section.Comparef(of(call, r.Name), of(call, memory), measure.ServerMs, "%[2]s: in %[3]s it takes %.2[1]f times the server CPU that it takes from memory.", call, r.Name)
		}
	}
	for _, call := range []string{callNewsBusy, callThreadBusy, callPostBusy, callCommentBusy} {
		for _, r := range s.rivals {
			section.Comparef(of(call, r.Name), of(call, byHand), measure.CPUMs, "%[2]s: in %[3]s it takes %.2[1]f times the CPU that it takes by hand.", call, r.Name)
		}
	}
	for _, r := range s.rivals {
		section.Comparef(of(callThreadBusy, r.Name), of(callThreadBusy, byHandByID), measure.CPUMs,
			"%[2]s: in %[3]s it takes %.2[1]f times the CPU that it takes by hand with authors by id.", callThreadBusy, r.Name)
	}
	for _, r := range s.rivals {
		section.Comparef(of(callStar, r.Name), of(callPost, r.Name), measure.CPUMs,
			"A post by an author with %[2]s followers takes %.2[1]f times the CPU in %[3]s that one by an author with none takes.",
			figures.Grouped(s.network.followers()[s.star]), r.Name)
	}
	for _, r := range s.rivals {
		if entry := of(callFanOut, r.Name); len(entry.Samples) > 0 {
			section.Remarkf("%s brings a post to its readers at %s entries a CPU-second, the post itself included.",
				r.Name, figures.Grouped(int(1000/entry.Median(measure.CPUMs))))
		}
	}
}
