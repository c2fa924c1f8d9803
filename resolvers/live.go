package resolvers

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"plaza/fault"
	"plaza/graph/model"
	"plaza/live"
	"plaza/loaders"
	"plaza/social"
)

// Stream is a subscription that has begun, as the transport has it.
type Stream interface {
	// Context is the subscription's: it ends with it, and has its session.
	Context() context.Context
	// Await charges another response to the rate limits, and waits until they admit it.
	Await()
	// Execute resolves the subscription for one event, which its field's resolver finds in ctx, and
	// returns the response.
	Execute(ctx context.Context) []byte
	// Send sends a response of Execute, perhaps that of another subscription to the same.
	Send(response []byte)
	// End ends the subscription with an error.
	End(err error)
}

// NewsItemAdded resolves Subscription.newsItemAdded.
func (r subscriptionResolver) NewsItemAdded(ctx context.Context, after *string) (<-chan *live.Item, error) {
	if item := itemOf(ctx); item != nil {
		return only(item), nil
	}
	viewer, err := signedIn(ctx)
	if err != nil {
		return nil, err
	}
	s, key, err := r.subscriberAfter(ctx, newsCursors(viewer), after)
	if err != nil {
		return nil, err
	}
	r.Hub.News(s.stream.Context(), s.who, key, s)
	return nothing(), nil
}

// IncomingAdded resolves Subscription.incomingAdded.
func (r subscriptionResolver) IncomingAdded(ctx context.Context, after *string) (<-chan *live.Item, error) {
	if item := itemOf(ctx); item != nil {
		return only(item), nil
	}
	viewer, err := signedIn(ctx)
	if err != nil {
		return nil, err
	}
	s, key, err := r.subscriberAfter(ctx, cursorsOf(cursorPost, "incoming", viewer.String()), after)
	if err != nil {
		return nil, err
	}
	r.Hub.Incoming(s.stream.Context(), s.who, key, s)
	return nothing(), nil
}

// NotificationAdded resolves Subscription.notificationAdded.
func (r subscriptionResolver) NotificationAdded(ctx context.Context, after *string) (<-chan *live.Item, error) {
	if item := itemOf(ctx); item != nil {
		return only(item), nil
	}
	viewer, err := signedIn(ctx)
	if err != nil {
		return nil, err
	}
	s, key, err := r.subscriberAfter(ctx, notificationCursors(viewer), after)
	if err == nil && key == "" {
		key, err = r.Social.NewestNotification(ctx, viewer)
	}
	if err != nil {
		return nil, err
	}
	r.Hub.Notifications(s.stream.Context(), s.who, key, s)
	return nothing(), nil
}

// WallPostAdded resolves Subscription.wallPostAdded.
func (r subscriptionResolver) WallPostAdded(ctx context.Context, text string, after *string) (<-chan *live.Item, error) {
	if item := itemOf(ctx); item != nil {
		return only(item), nil
	}
	owner, err := userID("userId", text)
	if err != nil {
		return nil, err
	}
	s, key, err := r.subscriberAfter(ctx, wallCursors(owner), after)
	if err != nil {
		return nil, err
	}
	user, err := loaders.For(ctx).Users.Load(ctx, owner)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, fault.NotFound("userId", "user")
	}
	r.Hub.Wall(s.stream.Context(), s.who, owner, key, s)
	return nothing(), nil
}

// subscriberAfter returns the subscriber to a list, and the position that it begins after.
func (r *Resolver) subscriberAfter(ctx context.Context, of cursors, after *string) (*subscriber, social.Key, error) {
	key, err := of.decode("after", after)
	if err != nil {
		return nil, "", err
	}
	return r.newSubscriber(ctx, of), key, nil
}

// CommentAdded resolves Subscription.commentAdded.
func (r subscriptionResolver) CommentAdded(ctx context.Context, text string, after *string) (<-chan *live.Item, error) {
	if item := itemOf(ctx); item != nil {
		return only(item), nil
	}
	id, err := postID("postId", text)
	if err != nil {
		return nil, err
	}
	key, err := decodeInThread(id, after)
	if err != nil {
		return nil, err
	}
	if err := seesThread(ctx, id); err != nil {
		return nil, err
	}
	s := r.newSubscriber(ctx, threadCursors(social.Thread{Post: id, Order: social.OrderOldest}))
	r.Hub.Comments(s.stream.Context(), s.who, id, key, s)
	return nothing(), nil
}

// maxWatched is how many posts one subscription may name.
const maxWatched = 100

// PostChanged resolves Subscription.postChanged.
func (r subscriptionResolver) PostChanged(ctx context.Context, texts []string, current bool) (<-chan *live.Item, error) {
	if item := itemOf(ctx); item != nil {
		return only(item), nil
	}
	ids, err := watchedPosts(texts)
	if err != nil {
		return nil, err
	}
	s := r.newSubscriber(ctx, cursors{})
	r.Hub.Posts(s.stream.Context(), s.who, ids, current, s)
	return nothing(), nil
}

// watchedPosts parses the ids of posts to watch, without duplicates.
func watchedPosts(texts []string) ([]social.PostID, error) {
	switch {
	case len(texts) == 0:
		return nil, fault.Invalidf("postIds", "Name at least one post.")
	case len(texts) > maxWatched:
		return nil, fault.Errorf(fault.CodeTooLong, "postIds", "At most %d ids are allowed.", maxWatched)
	}
	var ids []social.PostID
	for i, text := range texts {
		id, err := postID(fmt.Sprintf("postIds.%d", i), text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// CommentChanged resolves Subscription.commentChanged.
func (r subscriptionResolver) CommentChanged(ctx context.Context, text string) (<-chan *live.Item, error) {
	if item := itemOf(ctx); item != nil {
		return only(item), nil
	}
	id, err := postID("postId", text)
	if err != nil {
		return nil, err
	}
	if err := seesThread(ctx, id); err != nil {
		return nil, err
	}
	s := r.newSubscriber(ctx, cursors{})
	r.Hub.CommentChanges(s.stream.Context(), s.who, id, s)
	return nothing(), nil
}

// seesThread refuses a post that the viewer may not see. Error: NOT_FOUND.
func seesThread(ctx context.Context, id social.PostID) error {
	post, err := loaders.For(ctx).Posts.Load(ctx, id)
	if err == nil && post == nil {
		err = fault.NotFound("postId", "post")
	}
	return err
}

// decodeInThread parses a position in a thread: a cursor of its comments, the oldest or the newest
// first.
func decodeInThread(post social.PostID, after *string) (social.Key, error) {
	key, err := threadCursors(social.Thread{Post: post, Order: social.OrderNewest}).decode("after", after)
	if err != nil {
		return threadCursors(social.Thread{Post: post, Order: social.OrderOldest}).decode("after", after)
	}
	return key, nil
}

// Cursor resolves NewsItemAdded.cursor.
func (newsItemAddedResolver) Cursor(_ context.Context, obj *live.Item) (*string, error) {
	return cursorOf(obj), nil
}

// Post resolves NewsItemAdded.post.
func (r newsItemAddedResolver) Post(ctx context.Context, obj *live.Item) (model.Post, error) {
	if obj.Post == nil {
		return nil, nil
	}
	return model.NewPost(loaders.For(ctx).Viewer, obj.Post), nil
}

// Cursor resolves CommentAdded.cursor.
func (commentAddedResolver) Cursor(_ context.Context, obj *live.Item) (*string, error) {
	return cursorOf(obj), nil
}

// Comment resolves CommentAdded.comment.
func (r commentAddedResolver) Comment(ctx context.Context, obj *live.Item) (*model.Comment, error) {
	if obj.Comment == nil {
		return nil, nil
	}
	return wrapComment(ctx, obj.Comment), nil
}

// CommentID resolves CommentChanged.commentId.
func (commentChangedResolver) CommentID(_ context.Context, obj *live.Item) (*string, error) {
	if obj.CommentID.IsZero() {
		return nil, nil
	}
	id := obj.CommentID.String()
	return &id, nil
}

// Comment resolves CommentChanged.comment.
func (r commentChangedResolver) Comment(ctx context.Context, obj *live.Item) (*model.Comment, error) {
	return commentAddedResolver(r).Comment(ctx, obj)
}

// Post resolves PostChanged.post.
func (r postChangedResolver) Post(ctx context.Context, obj *live.Item) (model.Post, error) {
	return newsItemAddedResolver(r).Post(ctx, obj)
}

// Cursor resolves NotificationAdded.cursor.
func (notificationAddedResolver) Cursor(context.Context, *live.Item) (string, error) {
	return cursorBlank, nil
}

// Notification resolves NotificationAdded.notification.
func (notificationAddedResolver) Notification(_ context.Context, obj *live.Item) (*model.Notification, error) {
	return wrapNotification(obj.Notification), nil
}

// Viewer resolves NotificationAdded.viewer.
func (notificationAddedResolver) Viewer(_ context.Context, obj *live.Item) (*model.Viewer, error) {
	return &model.Viewer{UserID: obj.Notification.To}, nil
}

type itemKey struct{}

// itemOf returns the item that a subscription is resolved for; nil: the subscription begins.
func itemOf(ctx context.Context) *live.Item {
	item, _ := ctx.Value(itemKey{}).(*live.Item)
	return item
}

// only and nothing are what a subscription's field gives to gqlgen: one item each time that it is
// executed, and none when it begins.
func only(item *live.Item) <-chan *live.Item {
	items := make(chan *live.Item, 1)
	items <- item
	return items
}

func nothing() <-chan *live.Item {
	none := make(chan *live.Item)
	close(none)
	return none
}

// eventTimeout ends the execution of one event.
const eventTimeout = 30 * time.Second

// subscriber is the receiver of a subscription.
type subscriber struct {
	r           *Resolver
	who         live.Subscriber
	stream      Stream
	cursors     cursors
	selection   sameSelection // zero: what it shows differs from viewer to viewer
	showsPeople bool
}

func (r *Resolver) newSubscriber(ctx context.Context, of cursors) *subscriber {
	session := sessionOf(ctx)
	return &subscriber{
		r: r, who: live.Subscriber{Viewer: session.User, Session: session.TokenHash},
		stream: r.StreamOf(ctx), cursors: of, selection: sharedSelection(ctx), showsPeople: showsPeople(ctx),
	}
}

// Encode implements live.Receiver. It waits for the rate limits first: an item that is hidden
// meanwhile is not sent.
func (s *subscriber) Encode(item *live.Item) []byte {
	s.stream.Await()
	if s.selection == (sameSelection{}) || item.Post == nil {
		return s.withCursor(s.execute(s.stream.Context(), item), item)
	}
	text := item.Shared(s.selection, func() []byte {
		return s.execute(context.WithoutCancel(s.stream.Context()), item) // others wait for it, too
	})
	return s.withCursor(text, item)
}

// cursorBlank takes the place of cursors in a response, because a response is shared by subscribers
// whose cursors differ. Texts of users cannot contain it: it is random, and never sent.
var cursorBlank = "cursor-" + rand.Text()

func cursorOf(item *live.Item) *string {
	if item.Event == live.Gap {
		return nil
	}
	return &cursorBlank
}

// withCursor returns a copy of a response with the subscriber's own cursor.
func (s *subscriber) withCursor(response []byte, item *live.Item) []byte {
	return bytes.ReplaceAll(response, []byte(cursorBlank), []byte(s.cursors.encode(item.Key)))
}

func (s *subscriber) execute(ctx context.Context, item *live.Item) []byte {
	ctx, cancel := context.WithTimeout(ctx, eventTimeout)
	defer cancel()
	viewer := s.r.Social.Viewer(s.who.Viewer)
	viewer.ShowsPeople = s.showsPeople
	load := loaders.New(viewer, s.r.LoaderWait)
	prime(ctx, load, item)
	return s.stream.Execute(context.WithValue(loaders.Install(ctx, load), itemKey{}, item))
}

// prime fills an event's loaders with what was read to find out who may see it.
func prime(ctx context.Context, load *loaders.Loaders, item *live.Item) {
	for other, relation := range item.Relations {
		load.Viewer.Prime(other, relation)
		if user := item.People[other]; user != nil && social.CanSeeUser(relation) {
			load.Users.Prime(ctx, other, user)
		}
	}
	if item.Post != nil {
		load.Posts.Prime(ctx, item.Post.ID, item.Post)
	}
	if item.Comment != nil {
		load.Comments.Prime(ctx, item.Comment.ID, item.Comment)
	}
}

// Send implements live.Receiver.
func (s *subscriber) Send(response []byte) { s.stream.Send(response) }

// End implements live.Receiver.
func (s *subscriber) End(reason error) { s.stream.End(reason) }
