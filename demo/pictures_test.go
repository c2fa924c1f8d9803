package demo

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plaza/ads"
	"plaza/social"
	"plaza/social/network"
	"plaza/storage"
)

// pictured returns the addresses of all pictures that are stored, with their stored width and
// height; 0 if none is stored.
func pictured(t *testing.T, st storage.Store) map[string][2]int {
	t.Helper()
	all := map[string][2]int{}
	s := take(t, st)
	for _, u := range s.Users {
		all[u.AvatarURL] = [2]int{}
	}
	for _, posts := range s.Walls {
		for _, p := range posts {
			if photo := p.Content.Photo; photo != nil {
				all[photo.URL] = [2]int{photo.Width, photo.Height}
			}
		}
	}
	for _, u := range s.Ads {
		all[u.ImageURL] = [2]int{}
	}
	return all
}

// TestPicturesLoad requests every picture that the community has stored, as a page of another
// origin does.
func TestPicturesLoad(t *testing.T) {
	t.Parallel()
	st := openSeeded(t)
	liveRound(t, mustSeed(t, st).Life(network.New(st, network.Options{})))
	stored := pictured(t, st)
	if least := len(cast) + 6 + 3 + 5; len(stored) < least {
		t.Errorf("%d pictures are stored, want at least %d", len(stored), least)
	}
	for address, size := range stored {
		path, ours := strings.CutPrefix(address, testURL)
		if !ours {
			t.Errorf("%s is not at %s", address, testURL)
			continue
		}
		answer := httptest.NewRecorder()
		Pictures().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		if answer.Code != http.StatusOK {
			t.Errorf("%s: status %d", path, answer.Code)
			continue
		}
		for header, want := range map[string]string{
			"Content-Type": "image/svg+xml", "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin",
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": picturePolicy, "Cache-Control": "public, max-age=3600",
		} {
			if got := answer.Header().Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", path, header, got, want)
			}
		}
		checkDrawing(t, path, answer.Body.Bytes(), size)
	}
}

// checkDrawing checks that a picture is well-formed, shows something, and has the stored size.
func checkDrawing(t *testing.T, path string, svg []byte, size [2]int) {
	t.Helper()
	var drawing struct {
		XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
		Width   int      `xml:"width,attr"`
		Height  int      `xml:"height,attr"`
		Title   string   `xml:"title"`
		Shapes  []struct {
			XMLName xml.Name
		} `xml:",any"`
	}
	if err := xml.Unmarshal(svg, &drawing); err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	if drawing.Title == "" || len(drawing.Shapes) < 2 {
		t.Errorf("%s is called %q and has %d shapes", path, drawing.Title, len(drawing.Shapes))
	}
	if size != [2]int{} && size != [2]int{drawing.Width, drawing.Height} {
		t.Errorf("%s is %d × %d, and its post says %v", path, drawing.Width, drawing.Height, size)
	}
}

func TestPicturesRefuse(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]int{
		"GET " + PicturesPath:                               http.StatusNotFound,
		"GET " + PicturesPath + "avatars/unknown.svg":       http.StatusNotFound,
		"POST " + PicturesPath + "avatars/ada.svg":          http.StatusMethodNotAllowed,
		"HEAD " + PicturesPath + "avatars/ada.svg":          http.StatusOK,
		"GET " + PicturesPath + "photos/../avatars/ada.svg": http.StatusNotFound,
	} {
		method, path, _ := strings.Cut(target, " ")
		answer := httptest.NewRecorder()
		Pictures().ServeHTTP(answer, httptest.NewRequest(method, path, nil))
		if answer.Code != want {
			t.Errorf("%s: status %d, want %d", target, answer.Code, want)
		}
	}
}

// TestPicturesMoveWithTheServer restarts the demo at another public URL: its pictures are there,
// and nothing else has changed.
func TestPicturesMoveWithTheServer(t *testing.T) {
	t.Parallel()
	st := openSeeded(t)
	ctx := t.Context()
	l := mustSeed(t, st).Life(network.New(st, network.Options{}))
	liveRound(t, l)
	const elsewhere = "https://photos.example/mine.jpg"
	own := network.NewPost{Content: social.Content{Photo: &social.Photo{URL: elsewhere}}, Audience: social.Audience{Kind: social.AudiencePublic}}
	if _, err := l.social.CreatePost(ctx, l.stage.user("omar"), own); err != nil {
		t.Fatal(err)
	}
	before := take(t, st)
	community, err := Seed(ctx, st, "http://[::1]:9090/plaza/")
	if err != nil {
		t.Fatal(err)
	}
	if err := community.Life(l.social).recall(ctx); err != nil {
		t.Fatal(err)
	}
	for address := range pictured(t, st) {
		if address != elsewhere && !strings.HasPrefix(address, "http://[::1]:9090/plaza"+PicturesPath) {
			t.Errorf("%s has not moved", address)
		}
	}
	after := take(t, st)
	for handle, posts := range after.Walls {
		for i, p := range posts {
			was := before.Walls[handle][i]
			if p.ID != was.ID || p.Edits != was.Edits || !p.EditedAt.Equal(was.EditedAt) || p.Content.Text() != was.Content.Text() {
				t.Errorf("%v has changed: %v", was, p)
			}
		}
	}
	if _, err := Seed(ctx, st, testURL); err != nil {
		t.Fatal(err)
	}
	if err := mustSeed(t, st).Life(l.social).recall(ctx); err != nil {
		t.Fatal(err)
	}
	if ad := must(st.Ads().Units(ctx, []ads.UnitID{before.Ads[0].ID}))(t); ad[before.Ads[0].ID].ImageURL != before.Ads[0].ImageURL {
		t.Errorf("back again, the ad's picture is at %s", ad[before.Ads[0].ID].ImageURL)
	}
}
