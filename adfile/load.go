package adfile

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/fault"
)

// chunk is how many entries one transaction stores.
const chunk = 200

// Summary counts what Load did with a file's entries.
type Summary struct{ Added, Changed, Unchanged int }

func (s *Summary) add(c adserver.Changes) {
	s.Added += c.Added
	s.Changed += c.Changed
	s.Unchanged += c.Unchanged
}

// Load stores the entries of a file that are new or have changed, in an order in which each entry
// comes after those that it refers to. It reports progress after each transaction. A mistake is an
// *Error with its line. References and currencies are checked before anything is stored. If loading
// is stopped, or fails later, the entries that are stored stay stored, and loading again continues
// from there.
func Load(ctx context.Context, service *adserver.Service, f *File, progress func(done, all int)) (Summary, error) {
	var sum Summary
	if err := f.checkReferences(ctx, service); err != nil {
		return sum, err
	}
	done, all := 0, len(f.Advertisers)+len(f.Zones)+len(f.Campaigns)+len(f.Units)
	for _, part := range f.parts() {
		changes, err := service.Sync(ctx, part.batch, f.omitted)
		if mistake, ok := errors.AsType[*fault.Error](err); ok && mistake.Code != fault.CodeUnavailable {
			err = f.findRejected(ctx, service, part)
		}
		if err != nil {
			return sum, err
		}
		sum.add(changes)
		done += part.len()
		progress(done, all)
	}
	return sum, nil
}

// checkReferences names the key in errors about missing references.
func (f *File) checkReferences(ctx context.Context, service *adserver.Service) error {
	err := service.CheckReferences(ctx, f.Batch, f.omitted)
	mistake, ok := errors.AsType[*fault.Error](err)
	if !ok || mistake.Field == "" {
		return err
	}
	if mistake.Code == fault.CodeNotFound {
		what, key := f.referenceAt(mistake.Path())
		mistake.Message = fmt.Sprintf("There is no %s %q.", what, key)
	}
	return f.locate(mistake)
}

// referenceAt returns what the file refers to at a path such as "units", "3", "zones", "0".
func (f *File) referenceAt(path []string) (what, key string) {
	i, _ := strconv.Atoi(path[1])
	switch path[2] {
	case "advertiser":
		return "advertiser", f.document.Campaigns[i].Advertiser
	case "campaign":
		return "campaign", f.document.Units[i].Campaign
	default:
		j, _ := strconv.Atoi(path[3])
		return "zone", f.document.Units[i].Zones[j]
	}
}

// part is a run of entries of one kind.
type part struct {
	kind  string
	from  int
	batch ads.Batch
}

func (p *part) len() int {
	return len(p.batch.Advertisers) + len(p.batch.Zones) + len(p.batch.Campaigns) + len(p.batch.Units)
}

func (f *File) parts() []part {
	var parts []part
	parts = cut(parts, "advertisers", f.Advertisers, func(some []ads.Advertiser) ads.Batch { return ads.Batch{Advertisers: some} })
	parts = cut(parts, "zones", f.Zones, func(some []ads.Zone) ads.Batch { return ads.Batch{Zones: some} })
	parts = cut(parts, "campaigns", f.Campaigns, func(some []ads.Campaign) ads.Batch { return ads.Batch{Campaigns: some} })
	return cut(parts, "units", f.Units, func(some []ads.Unit) ads.Batch { return ads.Batch{Units: some} })
}

func cut[T any](parts []part, kind string, entries []T, batch func([]T) ads.Batch) []part {
	for from := 0; from < len(entries); from += chunk {
		parts = append(parts, part{kind, from, batch(entries[from:min(from+chunk, len(entries))])})
	}
	return parts
}

// findRejected stores a part's entries one by one, to find the one that is rejected.
func (f *File) findRejected(ctx context.Context, service *adserver.Service, p part) error {
	for i := range p.len() {
		one := ads.Batch{}
		switch p.kind {
		case "advertisers":
			one.Advertisers = p.batch.Advertisers[i : i+1]
		case "zones":
			one.Zones = p.batch.Zones[i : i+1]
		case "campaigns":
			one.Campaigns = p.batch.Campaigns[i : i+1]
		default:
			one.Units = p.batch.Units[i : i+1]
		}
		_, err := service.Sync(ctx, one, f.omitted)
		if err == nil {
			continue
		}
		mistake, ok := errors.AsType[*fault.Error](err)
		if !ok {
			return err
		}
		at := fmt.Sprintf("%s.%d", p.kind, p.from+i)
		if mistake.Code == fault.CodeLimitReached {
			at += ".zones"
		}
		if mistake.Code == fault.CodeNotFound {
			mistake.Message = "It refers to an advertiser, a campaign or a zone that is neither in the file nor stored."
		}
		return f.locate(fault.Errorf(mistake.Code, at, "%s", mistake.Message))
	}
	return errors.New("the file was rejected, but each of its entries was accepted: try again")
}
