package adstore

// orNil returns nil for a zero id, so that the field is left out of the document.
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
