package model

// TextEntity is a MentionEntity or a TagEntity.
type TextEntity interface{ IsTextEntity() }

// MentionEntity is the schema's MentionEntity.
type MentionEntity struct {
	Start, End int
	User       *User
}

// IsTextEntity marks MentionEntity as a TextEntity.
func (*MentionEntity) IsTextEntity() {}

// TagEntity is the schema's TagEntity.
type TagEntity struct {
	Start, End int
	Tag        string
}

// IsTextEntity marks TagEntity as a TextEntity.
func (*TagEntity) IsTextEntity() {}
