package api

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"plaza/internal/plazatest"
)

// TestAllMistakesAreReported makes two mistakes in one request, in any two places of the input of
// any mutation that can be wrong independently. userErrors contains both, and nothing changes.
func TestAllMistakesAreReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plazatest.Start(t, plazatest.Engines[0]))
	before, pairs := w.dump(t), 0
	for _, mutation := range schema.Mutation.Fields {
		if len(mutation.Arguments) == 0 || strings.HasPrefix(mutation.Name, "__") {
			continue
		}
		for _, input := range w.inputs()[mutation.Name] {
			wrong := w.independentMistakes(mutation, input)
			for i, first := range wrong {
				for _, second := range wrong[:i] {
					pairs++
					w.mustReportBoth(t, mutation, input, first, second)
				}
			}
		}
	}
	if pairs < 100 {
		t.Errorf("only %d pairs of mistakes", pairs)
	}
	w.mustBeAs(t, before)
}

// mistake is a wrong value in one place of an input.
type mistake struct {
	leaf

	value any
	at    string
}

// independentMistakes returns one mistake for each place that can be wrong whatever the rest of the
// input contains.
func (w *world) independentMistakes(mutation *ast.FieldDefinition, input map[string]any) []mistake {
	var found []mistake
	fields := w.inputFields()
	for _, at := range leaves(inputType(mutation), input, nil) {
		i := slices.IndexFunc(fields[at.coordinate()], func(c bad) bool {
			return c.beside == nil && c.at == "" && slices.Contains([]string{"BLANK", "TOO_LONG", "INVALID"}, c.code)
		})
		if i >= 0 && !isDependent(mutation.Name, at.coordinate()) {
			found = append(found, mistake{at, fields[at.coordinate()][i].value, "input." + strings.Join(at.path, ".")})
		}
	}
	return found
}

// isDependent reports whether a place is checked against stored data, against another part of the
// input, or only when the rest is valid.
func isDependent(mutation, coordinate string) bool {
	return slices.Contains([]string{
		"SignInInput.handle", "SignInInput.password", "SignUpInput.invitation", "SetProfilePropertyInput.key", "SetProfilePropertyInput.value", "UpdateProfilePropertyInput.choices",
		"VotePollInput.option", "AddCommentInput.parentId", "UpdateAdvertiserInput.advertiserId", "UpdateAdCampaignInput.campaignId", "UpdateAdUnitInput.unitId",
		"AdScheduleInput.toHour", "RefundAdsInput.kind", "RefundAdsInput.from", "RefundAdsInput.to",
	}, coordinate) || mutation == "editPost" && strings.HasPrefix(coordinate, "PollInput.") || mutation == "updateAdCampaign" && strings.HasPrefix(coordinate, "AdBudgetInput.")
}

func (w *world) mustReportBoth(t *testing.T, mutation *ast.FieldDefinition, input map[string]any, first, second mistake) {
	t.Helper()
	var answer map[string]struct{ UserErrors []struct{ Path []string } }
	both := second.put(first.put(maps.Clone(input), first.value), second.value)
	w.ada.Do(t, `mutation($input: `+inputType(mutation).Name+`!) { `+mutation.Name+`(input: $input) { userErrors { path } } }`, map[string]any{"input": both}, &answer)
	var reported []string
	for _, e := range answer[mutation.Name].UserErrors {
		reported = append(reported, strings.Join(e.Path, "."))
	}
	for _, at := range []string{first.at, second.at} {
		if !slices.ContainsFunc(reported, func(path string) bool { return path == at || strings.HasPrefix(path, at+".") }) {
			t.Errorf("%s with mistakes at %s and %s reports %q", mutation.Name, first.at, second.at, reported)
		}
	}
}
