package social

import "plaza/paging"

// The pages of this package's lists.
type (
	// Key is a sort key of a list.
	Key = paging.Key
	// Page selects a range of a list.
	Page = paging.Page
	// List is one page of the list that belongs to Of.
	List[K comparable] = paging.List[K]
	// Slice is a page that was read, in list order.
	Slice[T any] = paging.Slice[T]
)

// EachEntry calls do with each entry of a list, page by page, from the given page to the end of the
// list. It returns the first error of read or do.
func EachEntry[T any](page Page, read func(Page) (Slice[T], error), do func(T) error) error {
	for {
		slice, err := read(page)
		if err != nil {
			return err
		}
		for _, entry := range slice.Items {
			if err := do(entry); err != nil {
				return err
			}
		}
		if !slice.More {
			return nil
		}
		page.After = slice.Next(page)
	}
}
