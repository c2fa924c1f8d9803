package social_test

import (
	"errors"
	"testing"

	"plaza/fault"
	"plaza/id"
	"plaza/social"
)

// TestAudienceThatAuthorHasChosenSince: a server of an earlier version has let the author of a hidden
// post choose another audience. RESTORE must not undo that, and HIDE is possible again.
func TestAudienceThatAuthorHasChosenSince(t *testing.T) {
	t.Parallel()
	post := &social.Post{ID: social.PostID{ID: id.New()}, Audience: social.Audience{Kind: social.AudienceOnlyMe}}
	c := &social.Case{Subject: social.Subject{Post: post.ID}, State: social.CaseOpen, Held: &social.Audience{Kind: social.AudiencePublic}}
	r, err := c.Rule(social.Decision{Action: social.ActionRestore}, post, nil)
	if refused, ok := errors.AsType[*fault.Error](err); !ok || refused.Code != fault.CodeConflict {
		t.Errorf("RESTORE: %+v, %v", r.Post, err)
	}
	r, err = c.Rule(social.Decision{Action: social.ActionHide}, post, nil)
	if err != nil || !social.IsHidden(r.Post) || r.Case.Held.Kind != social.AudienceOnlyMe {
		t.Errorf("HIDE: %+v, %v", r, err)
	}
	if r, err = r.Case.Rule(social.Decision{Action: social.ActionRestore}, r.Post, nil); err != nil || r.Post.Audience.Kind != social.AudienceOnlyMe {
		t.Errorf("RESTORE of what is hidden: %+v, %v", r.Post, err)
	}
}
