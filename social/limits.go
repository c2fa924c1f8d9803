package social

import "time"

// Limits of stored data. Lengths are in characters (Unicode code points).
const (
	MaxHandleLen       = 30
	MaxNameLen         = 100
	MaxNamePrefixLen   = 100
	MaxBioLen          = 1_000
	MinPasswordLen     = 8
	MaxPasswordLen     = 128
	MaxCircleNameLen   = 100
	MaxCircles         = 200 // per owner
	MaxListedCircles   = 50  // per audience
	MaxTextLen         = 10_000
	MaxAltLen          = 1_000
	MaxTitleLen        = 300
	MaxPlaceLen        = 200
	MaxPixels          = 100_000
	MaxQuestionLen     = 1_000
	MinPollOptions     = 2
	MaxPollOptions     = 10
	MaxPollOptionLen   = 200
	MaxEdits           = 50 // per post
	MaxPageSize        = 100
	MaxSuggestions     = 50 // of users to follow
	DefaultPageSize    = 20
	DefaultMaxDepth    = 32 // levels of a thread
	MaxProperties      = 100
	MaxPropertyLabel   = 100
	MaxPropertyChoices = 100
	MaxPropertyTextLen = 200
	MaxConditions      = 5                   // per search
	MaxSoughtValues    = 20                  // per condition
	SessionLifetime    = 30 * 24 * time.Hour // after the last use
	MaxSessionLifetime = 365 * 24 * time.Hour
	HandleRest         = 30 * 24 * time.Hour // the handle of a deleted account stays taken
	DefaultCircleName  = "Following"
)
