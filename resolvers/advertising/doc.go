// Package advertising resolves the schema's fields about ads: those that show and record ads to
// everyone (ad.go, news.go), and those of the ad manager, one file a noun. The resolvers of Query
// and Mutation embed its Query and Mutation.
package advertising
