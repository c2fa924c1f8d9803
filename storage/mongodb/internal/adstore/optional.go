package adstore

// orNil is for fields that only documents with an id have.
func orNil[ID interface {
	comparable
	IsZero() bool
}](i ID) *ID {
	if i.IsZero() {
		return nil
	}
	return &i
}

func orZero[ID any](i *ID) ID {
	if i == nil {
		return *new(ID)
	}
	return *i
}
