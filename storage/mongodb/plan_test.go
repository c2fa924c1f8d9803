package mongodb_test

import (
	"slices"
	"strconv"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb"
)

// TestNewsMergesIndexRanges checks the plans of news for few and many followed people. Pages of
// recent posts are found in memory, as the follows are, with two commands before the one for their
// posts. Older ones are merged from index ranges. Nothing is sorted, and only the posts on the page
// are read.
func TestNewsMergesIndexRanges(t *testing.T) {
	t.Parallel()
	const limit, written = 20, 300
	for layout, isMerged := range map[string]bool{mongodb.FeedsRead: false, mongodb.TinyRead: true} {
		r := new(recorder)
		w := newTownOf(t, r, mongodb.Options{Feeds: layout})
		users := w.people(5001)
		for i := range written {
			w.post(status(users[1+i%len(users)].User.ID, users[1+i%len(users)].User.ID, public))
		}
		client := plainClient(t)
		for _, n := range []int{10, 199, 201, 5000} {
			t.Run(layout+", "+strconv.Itoa(n), func(t *testing.T) {
				viewer := w.people(1)[0]
				w.follow(viewer, users[1:n+1])
				read := func(p social.Page) (posts []*social.Post, commands []bson.Raw) {
					r.take()
					posts, err := w.News(w.ctx, viewer.User.ID, p)
					w.ok(err)
					return posts, r.take()
				}
				read(social.Page{Limit: limit}) // brings the posts into memory
				posts, commands := read(social.Page{Limit: limit})
				wantIn(t, posts, min(n, limit))
				_, next := read(social.Page{Limit: limit, After: social.Key(posts[len(posts)-1].ID.Bytes())})
				if _, older := w.NewsPages(); (older > 0) != isMerged {
					t.Errorf("%d pages were merged in the database", older)
				}
				if !isMerged && len(commands)+len(next) > 2*3 {
					t.Errorf("commands: %s, %s", names(commands), names(next))
				}
				merges := 0
				for _, raw := range slices.Concat(commands, next) {
					if !isMerged && raw.Index(0).Value().StringValue() == "edges" {
						t.Errorf("follows are read although they are in memory: %s", raw)
					}
					if slices.Contains(checkCommand(t, client, raw, limit), "SORT_MERGE") {
						merges++
					}
				}
				if (merges > 0) != isMerged {
					t.Errorf("%d merges: %s, %s", merges, names(commands), names(next))
				}
			})
		}
	}
}

func wantIn(t *testing.T, posts []*social.Post, n int) {
	t.Helper()
	if len(posts) != n {
		t.Errorf("%d posts, want %d", len(posts), n)
	}
	if !slices.IsSortedFunc(posts, func(a, b *social.Post) int { return b.ID.Compare(a.ID.ID) }) {
		t.Error("not newest first")
	}
}

// checkCommand checks the plan of a command, unless it asks for a scan of the log of changes, and
// returns its stages.
func checkCommand(t *testing.T, client *mongo.Client, raw bson.Raw, most int) []string {
	t.Helper()
	command := explainable(t, raw)[0]
	if asksForScan(command) {
		return nil
	}
	plan := explain(t, client, command, "executionStats")
	checkPlan(t, plan, most)
	return stagesOf(plan)
}

// checkPlan checks that a command sorts nothing, and examines at most a number of documents.
func checkPlan(t *testing.T, plan bson.M, most int) {
	t.Helper()
	stages := stagesOf(plan)
	for _, bad := range []string{"COLLSCAN", "SORT", "$sort"} {
		if slices.Contains(stages, bad) {
			t.Errorf("%s in %v", bad, stages)
		}
	}
	if examined := total(plan["executionStats"], "totalDocsExamined"); examined > most {
		t.Errorf("%d documents examined, more than %d: %v", examined, most, slices.Compact(stages))
	}
}

// TestListsAreCovered: indexes cover pages of people.
func TestListsAreCovered(t *testing.T) {
	t.Parallel()
	for _, graph := range []string{mongodb.GraphReverse, mongodb.GraphTwo} {
		t.Run(graph, func(t *testing.T) { checkCovered(t, graph) })
	}
}

func checkCovered(t *testing.T, graph string) {
	t.Helper()
	r := new(recorder)
	w := newTownOf(t, r, mongodb.Options{Graph: graph})
	users := w.people(100)
	ada := users[0]
	w.follow(ada, users[1:])
	w.follow(users[1], users[:1])
	_, err := w.Block(w.ctx, edge(ada.User.ID, users[9].User.ID), happened(social.EventBlocked))
	w.ok(err)
	_, err = w.Mute(w.ctx, edge(ada.User.ID, users[8].User.ID), happened(social.EventMuted))
	w.ok(err)
	client := plainClient(t)
	after := social.Key(id.New().Bytes())
	for _, p := range []social.Page{{Limit: 20}, {Limit: 20, Last: true, Before: after}} {
		for name, call := range map[string]func() error{
			"Followers":  func() error { _, err := w.Followers(w.ctx, lists(p, ada.User.ID)); return err },
			"Following":  func() error { _, err := w.Following(w.ctx, lists(p, ada.User.ID)); return err },
			"2Followers": func() error { _, err := w.Followers(w.ctx, lists(p, ada.User.ID, users[1].User.ID)); return err },
			"2Following": func() error { _, err := w.Following(w.ctx, lists(p, ada.User.ID, users[1].User.ID)); return err },
			"Blocked":    func() error { _, err := w.Blocked(w.ctx, ada.User.ID, p); return err },
			"Muted":      func() error { _, err := w.Muted(w.ctx, ada.User.ID, p); return err },
		} {
			r.take()
			w.ok(call())
			for _, raw := range r.take() {
				plan := explain(t, client, explainable(t, raw)[0], "executionStats")
				if n := total(plan, "totalDocsExamined") + total(plan, "docsExamined"); n != 0 {
					t.Errorf("%s: %d documents examined: %v", name, n, stagesOf(plan))
				}
			}
		}
	}
}

// TestMembersAreReadInOrder: a page of a circle's members reads its own edges from one index, which
// also sorts them.
func TestMembersAreReadInOrder(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTown(t, r)
	users := w.people(60)
	ada := users[0]
	w.follow(ada, users[1:])
	client, first := plainClient(t), lists(social.Page{Limit: 30}, ada.Following.ID)
	members, err := w.Members(w.ctx, first)
	w.ok(err)
	middle := social.Key(members[first[0]][29].ID.Bytes())
	for _, p := range []social.Page{{Limit: 7}, {Limit: 7, After: middle}, {Limit: 7, Last: true}, {Limit: 7, Last: true, Before: middle}} {
		r.take()
		_, err := w.Members(w.ctx, lists(p, ada.Following.ID))
		w.ok(err)
		for _, raw := range r.take() {
			plan := explain(t, client, explainable(t, raw)[0], "executionStats")
			if n := total(plan, "totalDocsExamined"); n != p.Limit {
				t.Errorf("%+v: %d documents examined: %v", p, n, stagesOf(plan))
			}
		}
	}
}

// TestASearchReadsBetweenItsBounds: a search by two properties reads one range of one index, a page
// at a time. It does not read values that are not public.
func TestASearchReadsBetweenItsBounds(t *testing.T) {
	t.Parallel()
	const people, limit = 2_000, 20
	r := new(recorder)
	w := newTown(t, r)
	city, age := w.property("city", social.PropertyText), w.property("age", social.PropertyInt)
	w.ok(w.FillProfiles(w.ctx, people, func(i int) []social.ProfileValue {
		home := social.TextValue([]string{"aalen", "bern", "cham", "ulm"}[i%4])
		years := social.NumberValue(float64(i % 100))
		visibility := []social.Visibility{social.VisibleToAll, social.VisibleToAll, social.VisibleToMe, social.VisibleToCircles}[i/4%4]
		return []social.ProfileValue{
			{Property: city.ID, Visibility: visibility, Value: home, Sought: home},
			{Property: age.ID, Visibility: social.VisibleToAll, Value: years, Sought: years},
		}
	}))
	client := plainClient(t)
	ulm := social.PropertyCondition{Property: city.ID, Intervals: []social.Interval{point("ulm")}}
	grown := social.PropertyCondition{Property: age.ID, Intervals: []social.Interval{{Min: social.NumberValue(50), Max: social.NumberValue(99)}}}
	for name, c := range map[string]struct {
		where []social.PropertyCondition
		most  int // documents that a page may examine
	}{
		"one property":          {[]social.PropertyCondition{ulm}, limit},
		"a range":               {[]social.PropertyCondition{grown}, limit},
		"two properties":        {[]social.PropertyCondition{ulm, grown}, 4 * limit},
		"two, the range before": {[]social.PropertyCondition{grown, ulm}, 16 * limit},
	} {
		r.take()
		found, err := w.FindProfiles(w.ctx, c.where, nil, limit)
		w.ok(err)
		commands := r.take()
		if len(found) != limit || len(commands) != 1 {
			t.Errorf("%s: %d found by %s", name, len(found), names(commands))
		}
		plan := explain(t, client, explainable(t, commands[0])[0], "executionStats")
		stages := stagesOf(plan)
		if slices.Contains(stages, "SORT") || slices.Contains(stages, "COLLSCAN") || !slices.Contains(stages, "IXSCAN") {
			t.Errorf("%s: the plan is %v", name, stages)
		}
		docs, keys := total(plan["executionStats"], "totalDocsExamined"), total(plan["executionStats"], "totalKeysExamined")
		if docs > c.most || keys > docs+1 {
			t.Errorf("%s: %d keys and %d documents examined, want at most %d", name, keys, docs, c.most)
		}
		t.Logf("%s: %d keys, %d documents", name, keys, docs)
	}
}
