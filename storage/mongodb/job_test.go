package mongodb

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/mongotest"
)

// openInside opens a store on an empty database, without doing its background work. A test that
// changes collections or indexes calls [openAlone].
func openInside(t *testing.T, o Options) *Store {
	t.Helper()
	o.Unjournaled = true
	return openIn(t, mongotest.Reused(t), o)
}

// openAlone is [openInside] on a new database, which is dropped afterwards.
func openAlone(t *testing.T, o Options) *Store {
	t.Helper()
	return openIn(t, mongotest.Database(t), o)
}

func openIn(t *testing.T, uri string, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), uri, patientInside(o))
	ok(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func must[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pushJob is a kind of job that this server can do.
const pushJob jobs.Kind = "push"

// followersInJob is the number of followers of one such job.
const followersInJob = 500

// newsListDoc is a document of newsLists, as package feeds describes it.
type newsListDoc struct {
	User    social.UserID   `bson:"_id"`
	Version int             `bson:"v"`
	IDs     []social.PostID `bson:"ids"`
	Merged  []social.UserID `bson:"merged"`
	Pushed  int             `bson:"pushed"`
	Ready   bool            `bson:"ready"`
	UsedAt  time.Time       `bson:"usedAt"`
}

func TestAJobIsLeasedToOneAtATime(t *testing.T) {
	t.Parallel()
	s, ctx := openInside(t, Options{}), t.Context()
	ok(t, s.jobs.Add(ctx, jobs.Job{Kind: pushJob}))
	now := time.Now().Add(time.Minute)
	first := must(s.jobs.Claim(ctx, now))(t)
	if first == nil || first.Attempts != 1 {
		t.Fatalf("the job was not claimed: %+v", first)
	}
	if j := must(s.jobs.Claim(ctx, now.Add(jobs.LeaseTime-time.Second)))(t); j != nil {
		t.Fatalf("it was claimed again under its lease: %+v", j)
	}
	second := must(s.jobs.Claim(ctx, now.Add(jobs.LeaseTime+time.Second)))(t)
	if second == nil || second.ID != first.ID || second.Attempts != 2 {
		t.Fatalf("the job of a dead server was not claimed: %+v", second)
	}
	ok(t, s.jobs.Finish(ctx, first)) // by the first server, which was only slow
	if b := must(s.Backlog(ctx))(t); b.Waiting != 1 {
		t.Errorf("the first server has ended what is the second's: %+v", b)
	}
	ok(t, s.jobs.Finish(ctx, second))
	if b := must(s.Backlog(ctx))(t); b.Waiting != 0 || !b.Oldest.IsZero() {
		t.Errorf("the work is done, and there is some: %+v", b)
	}
}

// TestJobsThatAreStoredLate: most claims begin near the job that was leased last. They find jobs
// that became due a little earlier, and the next search of the whole queue finds all others.
func TestJobsThatAreStoredLate(t *testing.T) {
	t.Parallel()
	s, ctx, now := openInside(t, Options{}), t.Context(), time.Now()
	add := func(due time.Time) jobs.ID {
		j := jobs.Job{ID: jobs.ID{ID: id.New()}, Kind: pushJob, Due: due}
		ok(t, s.jobs.AddAs(ctx, j))
		return j.ID
	}
	claim := func(at time.Time, want jobs.ID) {
		t.Helper()
		var got jobs.ID
		if j := must(s.jobs.Claim(ctx, at))(t); j != nil {
			got = j.ID
		}
		if got != want {
			t.Errorf("job %v was claimed, want %v", got, want)
		}
	}
	claim(now, add(now))
	claim(now, add(now.Add(-900*time.Millisecond)))
	old := add(now.Add(-10 * time.Second))
	claim(now.Add(900*time.Millisecond), jobs.ID{})
	claim(now.Add(time.Second), old)
	claim(now.Add(time.Second), jobs.ID{})
	older := add(now.Add(-20 * time.Second))
	claim(now.Add(-time.Second), older) // the clock was set back
	claim(now, jobs.ID{})
}

func TestAJobThatFailsIsGivenUpAndRevived(t *testing.T) {
	t.Parallel()
	s, ctx := openInside(t, Options{}), t.Context()
	s.jobs.Know("nonsense") // which no layout can do
	ok(t, s.jobs.Add(ctx, jobs.Job{Kind: "nonsense"}))
	if did, err := s.workers.Once(ctx); !did || err != nil {
		t.Fatal(did, err)
	}
	b := must(s.Backlog(ctx))(t)
	if b.Waiting != 1 || b.Dead != 0 || len(b.Faults) != 1 || b.Faults[0].Dead || b.Oldest.IsZero() {
		t.Fatalf("after the first attempt: %+v", b)
	}
	for attempt := 2; attempt <= jobs.MaxAttempts; attempt++ {
		j := must(s.jobs.Claim(ctx, time.Now().Add(time.Duration(attempt)*time.Hour)))(t)
		if j == nil || j.Attempts != attempt {
			t.Fatalf("attempt %d: %+v", attempt, j)
		}
		ok(t, s.jobs.Postpone(ctx, j, errors.New("no sense")))
	}
	if j := must(s.jobs.Claim(ctx, time.Now().Add(24*time.Hour)))(t); j != nil {
		t.Fatalf("a dead job was claimed: %+v", j)
	}
	b = must(s.Backlog(ctx))(t)
	if b.Waiting != 0 || b.Dead != 1 || len(b.Faults) != 1 || !b.Faults[0].Dead || b.Faults[0].Error != "no sense" {
		t.Fatalf("after the last attempt: %+v", b)
	}
	if n := must(s.Revive(ctx))(t); n != 1 {
		t.Fatalf("%d jobs revived", n)
	}
	if j := must(s.jobs.Claim(ctx, time.Now().Add(time.Second)))(t); j == nil || j.Attempts != 2 { // it may have done a part of its work
		t.Fatalf("after its revival: %+v", j)
	}
}

// TestJobOfNewerServerWaitsForIt: a server that does not know the kind of a job neither attempts it
// nor gives it up, and does the jobs that are due after it.
func TestJobOfNewerServerWaitsForIt(t *testing.T) {
	t.Parallel()
	s, ctx := openInside(t, Options{}), t.Context()
	ok(t, s.jobs.Add(ctx, jobs.Job{Kind: "of a newer server"}))
	ok(t, s.jobs.Add(ctx, jobs.Job{Kind: pushJob}))
	if did := must(s.workers.Once(ctx))(t); !did {
		t.Error("a known job is not done because one that is not known is due")
	}
	if did := must(s.workers.Once(ctx))(t); did {
		t.Error("a job of an unknown kind was attempted")
	}
	if b := must(s.Backlog(ctx))(t); b.Waiting != 1 || b.Dead != 0 || len(b.Faults) != 0 {
		t.Errorf("the job does not wait: %+v", b)
	}
	s.jobs.Know("of a newer server")
	if j := must(s.jobs.Claim(ctx, time.Now()))(t); j == nil || j.Attempts != 1 {
		t.Errorf("the newer server does not get the job as it was made: %+v", j)
	}
}

func TestPausesGrowToALimit(t *testing.T) {
	t.Parallel()
	for attempts := 1; attempts <= jobs.MaxAttempts; attempts++ {
		pause := jobs.PauseAfter(attempts)
		longest := min(jobs.FirstPause<<attempts, jobs.MaxPause)
		if pause < longest/2 || pause > longest {
			t.Errorf("a pause of %v after %d attempts, want %v to %v", pause, attempts, longest/2, longest)
		}
	}
}

// TestWorkEndsWithItsContext: an idle worker does not wait until it would poll again.
func TestWorkEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.Work(ctx); close(done) }()
	stop()
	select {
	case <-done:
	case <-time.After(testtime.Patience()):
		t.Fatal("it still runs")
	}
}

// fans creates an author with n followers, whose lists exist and are empty.
func fans(t *testing.T, s *Store, n int) (author social.UserID, followers []social.UserID) {
	t.Helper()
	users := make([]social.NewUser, n+1)
	for i := range users {
		u := social.User{ID: social.UserID{ID: id.New()}, WallPolicy: social.WallEveryone}
		u.Handle = u.ID.ID.String()
		users[i] = social.NewUser{User: u, Following: social.NewBuiltInCircle(u.ID)}
	}
	author = users[0].User.ID
	for batch := range slices.Chunk(users, 1000) {
		must(s.ImportUsers(t.Context(), batch))(t)
	}
	for batch := range slices.Chunk(users[1:], 1000) {
		var all []social.Membership
		var edges []social.EdgeID
		var lists []any
		for _, u := range batch {
			followers = append(followers, u.User.ID)
			all = append(all, social.Membership{Circle: u.Following.ID, Owner: u.User.ID, Member: author})
			edges = append(edges, social.EdgeID{ID: id.New()})
			lists = append(lists, newsListDoc{
				User: u.User.ID, Version: mdb.FirstVersion, IDs: []social.PostID{{ID: id.New()}}, Merged: []social.UserID{}, Ready: true, UsedAt: time.Now(),
			})
		}
		must(s.ImportMemberships(t.Context(), all, edges))(t)
		must(newsListsOf(s).DeleteMany(t.Context(), mdb.Doc("_id", mdb.Doc("$in", followers[len(followers)-len(batch):]))))(t)
		must(newsListsOf(s).InsertMany(t.Context(), lists))(t)
	}
	return author, followers
}

func newStatus(author social.UserID) *social.Post {
	return &social.Post{
		ID: social.PostID{ID: id.New()}, Author: author, WallOwner: author,
		Audience: social.Audience{Kind: social.AudiencePublic},
		Content:  social.Content{Status: &social.Status{Text: "hello"}},
	}
}

func anEvent(kind social.EventKind) social.Event {
	return social.Event{ID: social.EventID{ID: id.New()}, Kind: kind}
}

// workOff does all jobs, and repeats each attempt as if its server had died right before the end of
// the job.
func workOff(t *testing.T, s *Store, times int) (jobs int) {
	t.Helper()
	for ; ; jobs++ {
		j := must(s.jobs.Claim(t.Context(), time.Now()))(t)
		if j == nil {
			return jobs
		}
		for range times {
			ok(t, s.feeds.Do(t.Context(), j))
			j.Attempts++
		}
		ok(t, s.jobs.Finish(t.Context(), j))
	}
}

// copies counts the lists by the number of copies of the post that they have.
func copies(t *testing.T, s *Store, post social.PostID, followers []social.UserID) map[int]int {
	t.Helper()
	docs := must(mdb.FindIn[newsListDoc](t.Context(), newsListsOf(s), "_id", followers))(t)
	counts := map[int]int{}
	for _, d := range docs {
		n := 0
		for _, each := range d.IDs {
			if each == post {
				n++
			}
		}
		counts[n]++
	}
	return counts
}

// postToFans stores a post of someone with n followers, which no job has pushed yet.
func postToFans(t *testing.T, n int) (s *Store, p *social.Post, followers []social.UserID) {
	t.Helper()
	s = openInside(t, Options{Feeds: FeedsHybrid})
	author, followers := fans(t, s, n)
	p = newStatus(author)
	ok(t, s.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
	return s, p, followers
}

// wantOneCopy checks that the lists of all n followers have the post once.
func wantOneCopy(t *testing.T, s *Store, post social.PostID, followers []social.UserID, n int) {
	t.Helper()
	if got := copies(t, s, post, followers); got[1] != n || len(got) != 1 {
		t.Errorf("lists by the number of copies: %v, want one in each of %d", got, n)
	}
}

// TestJobsThatAreRepeatedAddNothing covers two problems of Socialite: replayed tasks, and a limit
// that omits followers.
func TestJobsThatAreRepeatedAddNothing(t *testing.T) {
	t.Parallel()
	const n = 2*followersInJob + 7
	s, p, followers := postToFans(t, n)
	if jobs := workOff(t, s, 3); jobs < 3 {
		t.Errorf("%d jobs for %d followers", jobs, n)
	}
	wantOneCopy(t, s, p.ID, followers, n)
	ok(t, s.DeletePost(t.Context(), p.ID, anEvent(social.EventPostDeleted)))
	workOff(t, s, 3)
	if got := copies(t, s, p.ID, followers); got[0] != n {
		t.Errorf("lists by the number of copies after the deletion: %v, want none in each of %d", got, n)
	}
}

// TestJobsThatAreSplitTwiceAddNothing: a server dies after it has split a job, and before it has
// stored that. The jobs that it has split off are done and gone when the first one is repeated.
func TestJobsThatAreSplitTwiceAddNothing(t *testing.T) {
	t.Parallel()
	const n = 2*followersInJob + 7
	s, p, followers := postToFans(t, n)
	first := must(s.jobs.Claim(t.Context(), time.Now()))(t)
	ok(t, s.feeds.Do(t.Context(), first))
	workOff(t, s, 1)
	must(jobsOf(s).UpdateOne(t.Context(), mdb.Doc("_id", first.ID), mdb.Doc("$set", mdb.Doc("due", time.Now()), "$unset", mdb.Doc("until", 1))))(t)
	if jobs := workOff(t, s, 1); jobs != 3 {
		t.Errorf("%d jobs were repeated, want 3", jobs)
	}
	wantOneCopy(t, s, p.ID, followers, n)
}

// TestManyFollowersAreMergedAtRead: once their lists name the author, posts are not pushed any
// more.
func TestManyFollowersAreMergedAtRead(t *testing.T) {
	t.Parallel()
	const n = followersInJob + 20
	s := openInside(t, Options{Feeds: FeedsHybrid, MergeAbove: n - 1})
	author, followers := fans(t, s, n)
	var posts []social.PostID
	for i, want := range []int{1, 0} {
		p := newStatus(author)
		posts = append(posts, p.ID)
		must(s.News(t.Context(), author, social.Page{Limit: 1}))(t)
		ok(t, s.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
		// As if the author's own list had been built meanwhile.
		must(newsListsOf(s).UpdateOne(t.Context(), mdb.Doc("_id", author), mdb.Doc("$pull", mdb.Doc("ids", p.ID))))(t)
		workOff(t, s, 2)
		if got := copies(t, s, p.ID, followers); got[want] != n {
			t.Errorf("post %d: lists by the number of copies: %v, want %d in each of %d", i, got, want, n)
		}
	}
	slices.Reverse(posts)
	for _, reader := range []social.UserID{followers[0], followers[n-1], author} {
		news := must(s.News(t.Context(), reader, social.Page{Limit: 10}))(t)
		if got := mdb.Map(news, func(p **social.Post) social.PostID { return (*p).ID }); !slices.Equal(got, posts) {
			t.Errorf("news %v, want %v", got, posts)
		}
	}
}

// hold writes to users' lists in a transaction that stays open, like that of a killed server, until
// release is called.
func hold(t *testing.T, s *Store, users ...social.UserID) (release func()) {
	t.Helper()
	session := must(s.client().StartSession())(t)
	ok(t, session.StartTransaction())
	ctx := mongo.NewSessionContext(t.Context(), session)
	for _, user := range users {
		must(newsListsOf(s).UpdateOne(ctx, mdb.Doc("_id", user), mdb.Doc("$set", mdb.Doc("stamp", jobs.ID{ID: id.New()}))))(t)
	}
	return func() {
		ok(t, session.AbortTransaction(ctx))
		session.EndSession(t.Context())
	}
}

// tryLater makes an attempt at the next job although it may not be due, postpones the job if that
// fails, and returns the error.
func tryLater(t *testing.T, s *Store, limit time.Duration) error {
	t.Helper()
	q := jobs.NewQueue(jobsOf(s), jobSweep, time.Now) // which searches from the beginning
	q.Know(s.feeds.JobKinds()...)
	j := must(q.Claim(t.Context(), time.Now().Add(time.Hour)))(t)
	if j == nil {
		t.Fatal("there is no job")
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	err := s.feeds.Do(ctx, j)
	if err != nil {
		ok(t, s.jobs.Postpone(t.Context(), j, err))
	} else {
		ok(t, s.jobs.Finish(t.Context(), j))
	}
	return err
}

// wantSoon checks that the only job is due within seconds, however often it was attempted.
func wantSoon(t *testing.T, s *Store, attempt int) {
	t.Helper()
	const soon = 3500 * time.Millisecond
	jobs := must(mdb.FindAll[jobs.Job](t.Context(), jobsOf(s), mdb.Doc(), 1))(t)
	if len(jobs) != 1 || jobs[0].Due.IsZero() || jobs[0].Due.After(time.Now().Add(soon)) {
		t.Fatalf("after attempt %d, the job is not due soon: %+v", attempt, jobs)
	}
}

// TestLockedListIsWrittenOnceReleased: a transaction that has changed some of the lists stays open
// for a while.
func TestLockedListIsWrittenOnceReleased(t *testing.T) {
	t.Parallel()
	const n = 30
	s := openInside(t, Options{Feeds: FeedsHybrid})
	author, followers := fans(t, s, n)
	p := newStatus(author)
	for _, c := range []struct {
		write  func() error
		copies int // in each list, at the end
	}{
		{func() error { return s.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)) }, 1},
		{func() error { return s.DeletePost(t.Context(), p.ID, anEvent(social.EventPostDeleted)) }, 0},
	} {
		ok(t, c.write())
		release := hold(t, s, followers[3], followers[n-1])
		for attempt := range 2 {
			if err := tryLater(t, s, 50*time.Millisecond); !mdb.IsUnavailable(err) {
				t.Errorf("an attempt at held lists: %v", err)
			}
			wantSoon(t, s, attempt+1)
		}
		release()
		tryJobs(t, s, "the end", func() bool { return must(s.Backlog(t.Context()))(t).Waiting == 0 })
		if got := copies(t, s, p.ID, followers); got[c.copies] != n {
			t.Errorf("lists by the number of copies: %v, want %d in each of %d", got, c.copies, n)
		}
	}
}

// TestASlowDatabaseDoesNotDelayJobs: majority writes first take longer than usual, and then fail
// for so long that a job that fails for other reasons would be given up. The job is done within
// seconds after writes succeed again.
func TestASlowDatabaseDoesNotDelayJobs(t *testing.T) {
	t.Parallel()
	server := mongotest.OwnServer(t, mongotest.WithFailPoints())
	s := must(Open(t.Context(), strings.Replace(server.URI(), "/?", "/plaza?", 1), patientInside(Options{Feeds: FeedsHybrid})))(t)
	t.Cleanup(func() { _ = s.Close() })
	author, followers := fans(t, s, 30)
	post := func() social.PostID {
		p := newStatus(author)
		ok(t, s.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
		return p.ID
	}
	slow := post()

	failPoint(t, s, "alwaysOn", mdb.Doc("blockConnection", true, "blockTimeMS", 1100))
	if err := tryLater(t, s, testtime.Scale(jobs.AttemptTime)); err != nil {
		t.Errorf("slow writes: %v", err)
	}
	failPoint(t, s, "off", mdb.Doc())
	if got := copies(t, s, slow, followers); got[1] != len(followers) {
		t.Errorf("after slow writes, lists by the number of copies: %v", got)
	}

	failing := post()
	failPoint(t, s, "alwaysOn", mdb.Doc("writeConcernError", mdb.Doc("code", 64, "errmsg", "waiting for replication timed out")))
	for attempt := range jobs.MaxAttempts + 3 {
		if err := tryLater(t, s, testtime.Scale(jobs.AttemptTime)); err == nil {
			t.Fatal("no write has failed")
		}
		wantSoon(t, s, attempt+1)
	}
	failPoint(t, s, "off", mdb.Doc())
	tryJobs(t, s, "the end", func() bool { return must(s.Backlog(t.Context()))(t).Waiting == 0 })
	if got := copies(t, s, failing, followers); got[1] != len(followers) {
		t.Errorf("after writes that failed, lists by the number of copies: %v", got)
	}
}

// failPoint makes updates of lists slow, or makes them fail, as data says.
func failPoint(t *testing.T, s *Store, mode string, data bson.D) {
	t.Helper()
	mongotest.FailCommand(t, s.client(), mode, append(mdb.Doc("failCommands", bson.A{"update"}, "namespace", "plaza.newsLists"), data...))
}

// TestJobsAboutAFewUsersAreDone: older servers added separate jobs for lists that were locked.
func TestJobsAboutAFewUsersAreDone(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{Feeds: FeedsHybrid})
	author, followers := fans(t, s, 5)
	p := newStatus(author)
	ok(t, s.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
	some := mdb.Doc("$set", mdb.Doc("users", followers[:2]))
	must(jobsOf(s).UpdateMany(t.Context(), mdb.Doc(), some))(t)
	workOff(t, s, 1)
	if got := copies(t, s, p.ID, followers); got[1] != len(followers) {
		t.Errorf("lists by the number of copies: %v, want one in each", got)
	}
}

// tryJobs makes attempts at jobs, as a worker does, until the condition holds.
func tryJobs(t *testing.T, s *Store, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(testtime.Patience()); !condition(); {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen: %+v", what, must(s.Backlog(t.Context()))(t))
		}
		must(s.workers.Once(t.Context()))(t)
	}
}

// patientInside gives a store all the time that this machine may need.
func patientInside(o Options) Options {
	o.Timeout = cmp.Or(o.Timeout, testtime.Patience())
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, testtime.Patience())
	o.Lease = cmp.Or(o.Lease, testtime.Patience())
	return o
}
