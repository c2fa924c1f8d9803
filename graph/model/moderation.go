package model

// Moderation is the schema's Moderation. Its fields are look-ups.
type Moderation struct{}
