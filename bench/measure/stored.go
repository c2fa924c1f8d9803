package measure

// Stored is how many bytes something takes in a database.
type Stored struct {
	Data    int64 `bson:"size"`           // as documents
	Disk    int64 `bson:"storageSize"`    // as documents, compressed
	Indexes int64 `bson:"totalIndexSize"` // in indexes
}

// Minus returns the difference from another size.
func (s Stored) Minus(other Stored) Stored {
	return Stored{Data: s.Data - other.Data, Disk: s.Disk - other.Disk, Indexes: s.Indexes - other.Indexes}
}
