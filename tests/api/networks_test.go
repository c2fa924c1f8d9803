package api

import (
	"fmt"
	"os"
	"testing"

	"plaza/importer"
	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// egoFacebook is the folder of the real networks, beside the repository.
const egoFacebook = "../shared/data/ego-facebook"

// TestImportedNetworks reads news and a thread as a user with more than a thousand friends, in real
// networks, and counts the MongoDB commands: a page of 100 takes as many as a page of 20.
func TestImportedNetworks(t *testing.T) {
	if _, err := os.Stat(egoFacebook); err != nil {
		t.Skipf("SKIPPED: no real networks: %v", err)
	}
	log := &commandLog{}
	st := plazatest.OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{Monitor: log.monitor()})
	reader := importNetworks(t, st, 107)
	plaza := plazatest.ServeCounted(t, st)
	service := network.New(st, plazatest.Cheap)
	following, err := st.Following(t.Context(), []social.List[social.UserID]{{Of: reader, Page: social.Page{Limit: 2_000}}})
	if err != nil {
		t.Fatal(err)
	}
	friends := following[social.List[social.UserID]{Of: reader, Page: social.Page{Limit: 2_000}}]
	if len(friends) < 1_000 {
		t.Fatalf("fb107 has %d friends, which is not the real data", len(friends))
	}
	post := writePosts(t, service, friends)
	_, token, err := service.SignIn(t.Context(), accounts.Credentials{Handle: importer.Handle(107), Password: networkPassword})
	if err != nil {
		t.Fatal(err)
	}
	me := plazatest.Person{URL: plaza.URL, Token: token}
	for name, c := range map[string]struct {
		query string
		most  int
	}{
		"news":   {`query($first: Int!) { viewer { news(first: $first) { nodes { ` + postFields + ` } } } }`, 8},
		"thread": {`query($first: Int!, $post: ID!) { post(id: $post) { comments(first: $first, order: THREADED) { nodes { slug text author { handle } } } } }`, 6},
	} {
		log.mustTake(t, fmt.Sprintf("%s, following %d", name, len(friends)), c.most, true, [2]int{20, 100}, func(first int) {
			me.Do(t, c.query, map[string]any{"first": first, "post": post.String()}, nil)
		})
	}
}

const networkPassword = "correct horse"

// importNetworks loads the real networks, and returns one of their people.
func importNetworks(t *testing.T, st storage.Store, who importer.Person) social.UserID {
	t.Helper()
	networks, err := importer.ReadFolder(egoFacebook, func(f importer.Fault) { t.Error(f) })
	if err != nil {
		t.Fatal(err)
	}
	account, err := network.New(st, plazatest.Cheap).NewAccount(t.Context(),
		accounts.SignUpInput{Handle: "x", Name: "x", Password: networkPassword}, importer.UserID(who))
	if err != nil {
		t.Fatal(err)
	}
	options := importer.Options{PasswordHash: account.PasswordHash, Progress: func(importer.Progress) {}}
	if _, err := importer.Load(t.Context(), st, networks, options); err != nil {
		t.Fatal(err)
	}
	return importer.UserID(who)
}

// writePosts lets the first friends post and comment, and returns a post with a thread of 120
// comments.
func writePosts(t *testing.T, service *network.Service, friends []social.Edge) social.PostID {
	t.Helper()
	var last *social.Post
	for i := range 110 {
		content := social.Content{Status: &social.Status{Text: "What a day."}}
		post, err := service.CreatePost(t.Context(), friends[i*9].To, network.NewPost{Content: content, Audience: social.Audience{Kind: social.AudiencePublic}})
		if err != nil {
			t.Fatal(err)
		}
		last = post
	}
	for i := range 120 {
		comment := network.NewComment{Post: last.ID, Text: "Indeed."}
		if _, err := service.AddComment(t.Context(), friends[i].To, comment); err != nil {
			t.Fatal(err)
		}
	}
	return last.ID
}
