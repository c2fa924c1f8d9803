package ads

import (
	"math/rand/v2"
	"time"

	"plaza/id"
)

// Choice is an ad unit that was chosen for a zone.
type Choice struct {
	ID         ChoiceID // this choice's alone
	Unit       UnitID
	Advertiser string // who pays: a name to show
	Creative

	// ImpressionToken goes to Service.RecordImpression when the ad was really shown.
	ImpressionToken string
	// ClickToken is the end of the address to link to. Link there rather than to LandingURL, so that the click is counted
	// by Service.RecordClick.
	ClickToken string
}

// pick takes the best units, up to count. They stand in order; those of one ECPM are taken in random order.
func pick(units []RunningUnit, count int, random *rand.Rand) []*RunningUnit {
	var picked []*RunningUnit
	for len(picked) < count && len(units) > 0 {
		tied := tiedWithFirst(units)
		for _, i := range random.Perm(tied)[:min(tied, count-len(picked))] {
			picked = append(picked, &units[i])
		}
		units = units[tied:]
	}
	return picked
}

// tiedWithFirst counts the units that lead with one ECPM.
func tiedWithFirst(units []RunningUnit) int {
	n := 1
	for n < len(units) && units[n].ECPM == units[0].ECPM {
		n++
	}
	return n
}

// choices gives each picked unit an id of the choice and two tokens.
func (s *Service) choices(zone ZoneID, picked []*RunningUnit, key []byte) []Choice {
	made := make([]Choice, 0, len(picked))
	now := s.now()
	for _, unit := range picked {
		t := token{
			ExpiresAt: now.Add(TokenLife).Truncate(time.Second),
			Choice:    ChoiceID{id.At(now)}, Unit: unit.Unit, Zone: zone,
		}
		choice := Choice{ID: t.Choice, Unit: unit.Unit, Advertiser: unit.Advertiser, Creative: unit.Creative}
		t.Kind = Impression
		choice.ImpressionToken = t.sign(key)
		t.Kind = Click
		choice.ClickToken = t.sign(key)
		made = append(made, choice)
	}
	return made
}
