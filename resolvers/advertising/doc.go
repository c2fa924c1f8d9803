// Package advertising resolves the schema's fields about ads: those that show and record ads for
// everyone (ad.go, news.go), and those of the ad manager, one file for each noun. The resolvers of
// Query and Mutation embed its Query and Mutation.
package advertising
