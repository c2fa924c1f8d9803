package bench

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/bench/figures"
	"plaza/id"
)

// pollSizes are polls by size: the number of votes, its minimum when less than usual is loaded, and
// the number of such polls.
var pollSizes = []struct{ votes, least, polls int }{{10, 10, 100}, {100, 20, 100}, {1_000, 30, 60}, {10_000, 40, 20}}

// votesInTurn limits the votes of one turn, so that polls stay at about their nominal size.
const votesInTurn = 20

func votesSubject(o *Options) subject {
	s := subject{
		name: "votes", title: "Who has voted in polls", usual: referenced,
		designs: map[string]func(*Options, *Rival) design{
			referenced: func(o *Options, r *Rival) design { return &votes{Rival: r, o: o} },
			embedded:   func(o *Options, r *Rival) design { return &votes{Rival: r, o: o, embed: true} },
		},
	}
	for _, size := range pollSizes {
		read, write := votesActs(o.scaled(size.votes, size.least))
		s.pairs = append(s.pairs, readAndWrite{read, write})
	}
	return s
}

// votesActs returns the names of the acts on polls of a size.
func votesActs(size int) (page, vote string) {
	return fmt.Sprintf("page, %s votes each", figures.Grouped(size)), fmt.Sprintf("vote, %s before", figures.Grouped(size))
}

// pollDoc is a poll with its totals, and with the reader's own vote where votes are embedded.
type pollDoc struct {
	ID     bson.Binary `bson:"_id"`
	Author bson.Binary `bson:"author"`
	Detail struct {
		Question string   `bson:"question"`
		Options  []string `bson:"options"`
	} `bson:"detail"`
	Votes   []int       `bson:"votes"`
	Ballots []ballotDoc `bson:"ballots,omitempty"`
}

type ballotDoc struct {
	User   bson.Binary `bson:"user"`
	Option int         `bson:"option"`
}

// markDoc is a vote in its own document. Its _id is the poll's id followed by the voter's.
type markDoc struct {
	ID     bson.Binary `bson:"_id"`
	Option int         `bson:"option"`
}

// votes stores polls with their totals, and stores who voted in the poll or in a collection.
type votes struct {
	*Rival

	o     *Options
	embed bool
}

// sizes returns the polls of each size: the number of votes on each, the number of the first poll,
// and how many there are.
func (d *votes) sizes() (all []pollSize) {
	first := 0
	for _, size := range pollSizes {
		all = append(all, pollSize{d.o.scaled(size.votes, size.least), first, size.polls})
		first += size.polls
	}
	return all
}

type pollSize struct{ votes, first, polls int }

func (d *votes) load(ctx context.Context) error {
	w := newWriter(d.o.Seed)
	for _, size := range d.sizes() {
		for i := range size.polls {
			if err := d.loadPoll(ctx, size.first+i, size.votes, w.text()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *votes) loadPoll(ctx context.Context, n, size int, question string) error {
	p := pollDoc{ID: postID(n), Author: author(n % speakers).ID, Votes: make([]int, 4)}
	p.Detail.Question, p.Detail.Options = question, []string{"Yes", "No", "Perhaps", "Never"}
	marks := make([]any, size)
	for i := range size {
		option := i % len(p.Votes)
		p.Votes[option]++
		marks[i] = markDoc{mark(p.ID, voter(i)), option}
		if d.embed {
			p.Ballots = append(p.Ballots, ballotDoc{voter(i), option})
		}
	}
	if !d.embed {
		if err := d.fill(ctx, "votes", size, func(i int) any { return marks[i] }); err != nil {
			return err
		}
	}
	_, err := d.posts().InsertOne(ctx, p)
	return err
}

func voter(n int) bson.Binary { return uuid(derived(began, "voter", n)) }

func mark(poll, user bson.Binary) bson.Binary {
	return bson.Binary{Data: append(append(make([]byte, 0, 2*len(id.ID{})), poll.Data...), user.Data...)}
}

func (d *votes) acts() (all []act) {
	for _, size := range d.sizes() {
		page, vote := votesActs(size.votes)
		all = append(all,
			act{name: page, do: func(ctx context.Context, n int) error { return d.page(ctx, n, size) }},
			act{name: vote, most: votesInTurn, do: func(ctx context.Context, n int) error { return d.vote(ctx, n, size) }})
	}
	return all
}

// page reads polls with their totals, and the reader's votes.
func (d *votes) page(ctx context.Context, n int, size pollSize) error {
	reader := voter(n % size.votes)
	ids := postPage(n, size.first, size.polls)
	if d.embed {
		own := bson.D{{Key: "$elemMatch", Value: bson.D{{Key: "user", Value: reader}}}}
		polls, err := find[pollDoc](ctx, d.posts(), ids, options.Find().SetProjection(bson.D{
			{Key: "author", Value: 1}, {Key: "detail", Value: 1}, {Key: "votes", Value: 1}, {Key: "ballots", Value: own},
		}))
		if err == nil && len(polls[0].Ballots) != 1 {
			err = fmt.Errorf("%d votes of the reader", len(polls[0].Ballots))
		}
		return err
	}
	if _, err := find[pollDoc](ctx, d.posts(), ids); err != nil {
		return err
	}
	for i := range ids {
		ids[i] = mark(ids[i], reader)
	}
	_, err := find[markDoc](ctx, d.database.Collection("votes"), ids)
	return err
}

// vote votes as a user who has not voted.
func (d *votes) vote(ctx context.Context, n int, size pollSize) error {
	poll, user := postID(size.first+n%size.polls), voter(size.votes+n)
	add := bson.D{{Key: "$inc", Value: bson.D{{Key: "votes.1", Value: 1}}}}
	if d.embed {
		add = append(add, bson.E{Key: "$push", Value: bson.D{{Key: "ballots", Value: ballotDoc{user, 1}}}})
		once := bson.D{{Key: "_id", Value: poll}, {Key: "ballots.user", Value: bson.D{{Key: "$ne", Value: user}}}}
		return d.transact(ctx, func(ctx context.Context) error { return changeOne(ctx, d.posts(), once, add) })
	}
	return d.transact(ctx, func(ctx context.Context) error {
		set := bson.D{{Key: "$set", Value: bson.D{{Key: "option", Value: 1}}}}
		_, err := d.database.Collection("votes").UpdateOne(ctx, bson.D{{Key: "_id", Value: mark(poll, user)}}, set, options.UpdateOne().SetUpsert(true))
		if err != nil {
			return err
		}
		return changeOne(ctx, d.posts(), bson.D{{Key: "_id", Value: poll}}, add)
	})
}
