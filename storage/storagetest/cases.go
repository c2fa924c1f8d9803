package storagetest

import (
	"errors"
	"sync"
	"time"

	"plaza/social"
)

var caseCases = []testCase{
	{"ReportsGatherInACase", reportsGatherInACase},
	{"AUserReportsASubjectOnce", aUserReportsASubjectOnce},
	{"CasesArePaged", casesArePaged},
	{"ReportsAreListedForTheirReporter", reportsAreListedForTheirReporter},
	{"ConcurrentReportsAllCount", concurrentReportsAllCount},
	{"ReportsGoWithTheirPeople", reportsGoWithTheirPeople},
}

// complaint is a report on a post.
func complaint(p *social.Post, by person, reason social.ReportReason, at time.Time) social.Report {
	return social.Report{Subject: social.Subject{Post: p.ID}, Author: p.Author, Reporter: by.ID, Reason: reason, Text: "Look \x01 at ünicode", At: at}
}

// report makes a report that counts.
func (w *world) report(r social.Report) {
	w.t.Helper()
	w.did(true)(w.Report(w.ctx, r, social.MaxReportsPerDay))
}

// caseOn reads the case on a post.
func (w *world) caseOn(p *social.Post) *social.Case {
	w.t.Helper()
	return only(w, w.Cases, social.Subject{Post: p.ID}.Case())
}

// allIn lists all cases in a state.
func (w *world) allIn(state social.CaseState) []*social.Case {
	w.t.Helper()
	found, err := w.CasesIn(w.ctx, state, everything)
	w.ok(err, "CasesIn")
	return found
}

func reportsGatherInACase(w *world) {
	ada, ben, cem := w.user(), w.user(), w.user()
	post, other := w.status(ada), w.status(ada)
	comment := w.comment(post, nil, ben)
	at := now()
	absent(w, "case", w.Cases, social.Subject{Post: post.ID}.Case())
	first, second := complaint(post, ben, social.ReasonSpam, at), complaint(post, cem, social.ReasonAbuse, at.Add(time.Second))
	w.report(first)
	w.report(second)
	w.report(complaint(other, cem, social.ReasonSpam, at))
	byAda := social.Report{Subject: social.Subject{Comment: comment.ID}, Author: ben.ID, Reporter: ada.ID, Reason: social.ReasonOther, At: at}
	w.report(byAda)
	onCem := social.Report{Subject: social.Subject{User: cem.ID}, Author: cem.ID, Reporter: ada.ID, Reason: social.ReasonOther, At: at}
	w.report(onCem)

	c := w.caseOn(post)
	w.same(c, &social.Case{
		ID: social.Subject{Post: post.ID}.Case(), Subject: social.Subject{Post: post.ID}, Author: ada.ID, State: social.CaseOpen, Order: c.Order,
		Reasons: map[social.ReportReason]int{social.ReasonSpam: 1, social.ReasonAbuse: 1}, FirstAt: at, LastAt: at.Add(time.Second),
	}, "the case")
	w.same(c.Reports(), 2, "how many reports it has")
	all := w.allIn(social.CaseOpen)
	subjects := []social.Subject{{Post: post.ID}, {Post: other.ID}, {Comment: comment.ID}, {User: cem.ID}}
	if len(all) != len(subjects) {
		w.t.Fatalf("%d cases are open, want %d", len(all), len(subjects))
	}
	for i, s := range subjects {
		w.same(all[i].Subject, s, "the subject of case %d", i)
	}
	w.same(len(w.allIn(social.CaseDecided)), 0, "the number of decided cases")

	reports, err := w.NewestReports(w.ctx, []*social.Case{c, all[2], all[3]}, 5)
	w.ok(err, "NewestReports")
	w.same(reports, map[social.CaseID][]social.Report{c.ID: {second, first}, all[2].ID: {byAda}, all[3].ID: {onCem}}, "the reports")
	reports, err = w.NewestReports(w.ctx, []*social.Case{c}, 1)
	w.ok(err, "NewestReports")
	w.same(reports[c.ID], []social.Report{second}, "the newest report")
}

func aUserReportsASubjectOnce(w *world) {
	ada, ben := w.user(), w.user()
	post := w.status(ada)
	w.report(complaint(post, ben, social.ReasonSpam, now()))
	before := w.caseOn(post)
	w.did(false)(w.Report(w.ctx, complaint(post, ben, social.ReasonAbuse, now().Add(time.Hour)), social.MaxReportsPerDay))
	w.same(w.caseOn(post), before, "the case after a repeated report")
}

func casesArePaged(w *world) {
	users := w.users(6)
	var want []social.CaseID
	for _, u := range users[1:] {
		r := social.Report{Subject: social.Subject{User: u.ID}, Author: u.ID, Reporter: users[0].ID, Reason: social.ReasonSpam, At: now()}
		w.report(r)
		want = append(want, r.Subject.Case())
	}
	page := func(p social.Page) (ids []social.CaseID, keys []social.Key) {
		found, err := w.CasesIn(w.ctx, social.CaseOpen, p)
		w.ok(err, "CasesIn")
		for _, c := range found {
			ids, keys = append(ids, c.ID), append(keys, keyOf(c.Order.ID))
		}
		return ids, keys
	}
	first, keys := page(social.Page{Limit: 2})
	w.same(first, want[:2], "the first page")
	rest, _ := page(social.Page{Limit: 9, After: keys[1]})
	w.same(rest, want[2:], "the rest")
	last, lastKeys := page(social.Page{Limit: 2, Last: true})
	w.same(last, want[3:], "the last page")
	before, _ := page(social.Page{Limit: 2, Last: true, Before: lastKeys[0]})
	w.same(before, want[1:3], "the page before")
}

// reportsAreListedForTheirReporter: reports of one moment are not lost between pages.
func reportsAreListedForTheirReporter(w *world) {
	ada, ben, cem := w.user(), w.user(), w.user()
	post := w.status(ada)
	at := now()
	want := []social.Report{
		complaint(post, ben, social.ReasonSpam, at),
		{Subject: social.Subject{Comment: w.comment(post, nil, ada).ID}, Author: ada.ID, Reporter: ben.ID, Reason: social.ReasonAbuse, At: at},
		{Subject: social.Subject{Comment: w.comment(post, nil, cem).ID}, Author: cem.ID, Reporter: ben.ID, Reason: social.ReasonAbuse, At: at},
		{Subject: social.Subject{User: cem.ID}, Author: cem.ID, Reporter: ben.ID, Reason: social.ReasonOther, Text: "why", At: at.Add(time.Second)},
		complaint(w.status(ada), ben, social.ReasonSpam, at.Add(time.Minute)),
	}
	for i := range want {
		w.report(want[len(want)-1-i])
	}
	w.report(complaint(post, cem, social.ReasonSpam, at))
	for limit := 1; limit <= len(want)+1; limit++ {
		var got []social.Report
		for {
			var after social.ReportPosition
			if len(got) > 0 {
				after = got[len(got)-1].Position()
			}
			page, err := w.ReportsBy(w.ctx, ben.ID, after, limit)
			w.ok(err, "ReportsBy")
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
		}
		w.same(got, want, "the reports by ben in pages")
	}
	none, err := w.ReportsBy(w.ctx, ada.ID, social.ReportPosition{}, 9)
	w.ok(err, "ReportsBy")
	w.same(len(none), 0, "how many reports ada has made")
}

func concurrentReportsAllCount(w *world) {
	users := w.users(9)
	post := w.status(users[0])
	var wg sync.WaitGroup
	for _, u := range users[1:] {
		wg.Go(func() {
			for range 2 {
				if _, err := w.Report(w.ctx, complaint(post, u, social.ReasonSpam, now()), social.MaxReportsPerDay); err != nil {
					w.t.Errorf("Report: %v", err)
				}
			}
		})
	}
	wg.Wait()
	w.same(w.caseOn(post).Reasons, map[social.ReportReason]int{social.ReasonSpam: 8}, "the reasons")
	w.same(len(w.allIn(social.CaseOpen)), 1, "the number of cases")
}

func reportsGoWithTheirPeople(w *world) {
	ada, ben, cem := w.user(), w.user(), w.user()
	adas, cems := w.status(ada), w.status(cem)
	for _, by := range []person{ben, cem} {
		w.report(complaint(adas, by, social.ReasonSpam, now()))
	}
	w.report(complaint(cems, ben, social.ReasonSpam, now()))
	w.delete(cem)
	w.settleDeletion(cem)
	absent(w, "case", w.Cases, social.Subject{Post: cems.ID}.Case())
	c := w.caseOn(adas)
	w.same(c.Reports(), 2, "how many reports the other case has")
	reports, err := w.NewestReports(w.ctx, []*social.Case{c}, 9)
	w.ok(err, "NewestReports")
	w.same(len(reports[c.ID]), 1, "how many of them are left")
	w.same(reports[c.ID][0].Reporter, ben.ID, "whose that is")
	if _, err := w.Report(w.ctx, complaint(adas, cem, social.ReasonSpam, now()), social.MaxReportsPerDay); err != nil && !errors.Is(err, social.ErrAccountGone) {
		w.t.Errorf("a report by a deleted user: %v", err)
	}
}
