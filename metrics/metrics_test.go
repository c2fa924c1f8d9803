package metrics_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"plaza/metrics"
	"plaza/social"
)

// worker has a backlog, or an error.
type worker struct {
	social.Worker

	left social.Backlog
	err  error
}

func (w worker) Backlog(context.Context) (social.Backlog, error) { return w.left, w.err }

func scrape(t *testing.T, m *metrics.Metrics) (status int, text string) {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	return answer.Code, answer.Body.String()
}

func value(t *testing.T, text, name string) float64 {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no %s in\n%s", name, text)
	}
	n, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestBacklog(t *testing.T) {
	left := social.Backlog{Waiting: 3, Dead: 2, Oldest: time.Now().Add(-time.Minute)}
	_, text := scrape(t, metrics.New(worker{left: left}, func() int { return 7 }))
	for name, want := range map[string]float64{"plaza_work_jobs_waiting": 3, "plaza_work_jobs_dead": 2, "plaza_websockets": 7} {
		if got := value(t, text, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if age := value(t, text, "plaza_work_oldest_job_age_seconds"); age < 60 || age > 120 {
		t.Errorf("the oldest job is %v s old, want 60", age)
	}
	_, text = scrape(t, metrics.New(worker{}, func() int { return 0 }))
	if age := value(t, text, "plaza_work_oldest_job_age_seconds"); age != 0 {
		t.Errorf("no job is %v s old", age)
	}
}

// TestADatabaseThatIsDown: everything else is told all the same.
func TestADatabaseThatIsDown(t *testing.T) {
	status, text := scrape(t, metrics.New(worker{err: errors.New("no primary")}, func() int { return 1 }))
	if status != http.StatusOK || strings.Contains(text, "plaza_work_jobs") {
		t.Errorf("status %d, and\n%s", status, text)
	}
	if value(t, text, "go_goroutines") < 1 || value(t, text, "plaza_websockets") != 1 {
		t.Error("the other metrics are missing")
	}
}
