package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plaza/social"
)

// postID returns the id of the post that a step creates.
func (s *stage) postID(of string, after time.Duration) social.PostID {
	return social.PostID{ID: derive(s.at(after), of, 0)}
}

// commentID returns the id of the comment that a step creates.
func (s *stage) commentID(of string, after time.Duration) social.CommentID {
	return social.CommentID{ID: derive(s.at(after), of, 0)}
}

// play runs steps.
func (s *stage) play(ctx context.Context, steps []step) error {
	for i := range steps {
		s.on, s.made = &steps[i], 0
		if err := s.on.do(ctx, s); err != nil {
			return fmt.Errorf("the demo's step %s: %w", s.on.name, err)
		}
	}
	return nil
}

// firstLeft finds the step at which to resume: after the last step that has created an object; 0 if
// there is none.
func (s *stage) firstLeft(ctx context.Context, steps []step) (int, error) {
	var posts []social.PostID
	var comments []social.CommentID
	for _, st := range steps {
		switch st.makes {
		case aPost:
			posts = append(posts, s.postID(st.name, st.after))
		case aComment:
			comments = append(comments, s.commentID(st.name, st.after))
		case nothing:
		}
	}
	madePosts, err := s.store.Posts(ctx, posts)
	if err != nil {
		return 0, err
	}
	madeComments, err := s.store.Comments(ctx, comments)
	if err != nil {
		return 0, err
	}
	for i, st := range slices.Backward(steps) {
		if madePosts[s.postID(st.name, st.after)] != nil || madeComments[s.commentID(st.name, st.after)] != nil {
			return i + 1, nil
		}
	}
	return 0, nil
}

// expect checks that a step has created the object that firstLeft will look for.
func expect[ID comparable](made, expected ID) error {
	if made != expected {
		return fmt.Errorf("it made %v, not %v", made, expected)
	}
	return nil
}
