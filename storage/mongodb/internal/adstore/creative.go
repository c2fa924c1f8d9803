package adstore

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/ads"
	"plaza/storage/mongodb/internal/mdb"
)

type creativeDoc struct {
	Headline   string `bson:"headline"`
	Body       string `bson:"body"`
	ImageURL   string `bson:"imageUrl"`
	LandingURL string `bson:"landingUrl"`
}

func (d *creativeDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "headline":
		r.Text(v, &d.Headline)
	case "body":
		r.Text(v, &d.Body)
	case "imageUrl":
		r.Text(v, &d.ImageURL)
	case "landingUrl":
		r.Text(v, &d.LandingURL)
	}
}

type bidDoc struct {
	Model    ads.BidModel `bson:"model"`
	Price    ads.Micros   `bson:"price"`
	Currency ads.Currency `bson:"currency"`
}

func (d *bidDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "model":
		mdb.ReadText(r, v, &d.Model)
	case "price":
		readMicros(r, v, &d.Price)
	case "currency":
		mdb.ReadText(r, v, &d.Currency)
	}
}

// keywordWeightDoc is an ads.KeywordWeight.
type keywordWeightDoc struct {
	Keyword string `bson:"keyword"`
	Weight  int    `bson:"weight"`
}

func (d *keywordWeightDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "keyword":
		r.Text(v, &d.Keyword)
	case "weight":
		r.Int(v, &d.Weight)
	}
}

func newKeywordWeightDocs(weights []ads.KeywordWeight) []keywordWeightDoc {
	return mdb.Map(weights, func(w *ads.KeywordWeight) keywordWeightDoc { return keywordWeightDoc(*w) })
}

// readKeywordWeights returns nil for none.
func readKeywordWeights(docs []keywordWeightDoc) []ads.KeywordWeight {
	if len(docs) == 0 {
		return nil
	}
	return mdb.Map(docs, func(d *keywordWeightDoc) ads.KeywordWeight { return ads.KeywordWeight(*d) })
}

func readMicros(r *mdb.Reader, v bsoncore.Value, to *ads.Micros) {
	n, ok := v.AsInt64OK()
	if r.Check(ok, v) {
		*to = ads.Micros(n)
	}
}
