package accounts

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"plaza/social"
)

// rightsLife is how long a server may use the cached rights.
const rightsLife = time.Second

// rightHolders caches for rightsLife which users have rights. It is safe for concurrent use.
type rightHolders struct {
	now     func() time.Time
	read    func(context.Context) ([]*social.User, error)
	last    atomic.Pointer[holdersThen] // nil: never read
	reading singleflight.Group
}

// holdersThen is a snapshot of the users who have rights.
type holdersThen struct {
	at    time.Time
	users map[social.UserID]*social.User
}

func (h *holdersThen) isFresh(now time.Time) bool {
	if h == nil {
		return false
	}
	age := now.Sub(h.at)
	return age >= 0 && age < rightsLife // clocks can also go backwards
}

// holder returns a user who has rights, as they were up to rightsLife ago; nil: the user has none.
func (h *rightHolders) holder(ctx context.Context, user social.UserID) (*social.User, error) {
	if !h.last.Load().isFresh(h.now()) {
		_, err, _ := h.reading.Do("", func() (any, error) { return nil, h.refresh(context.WithoutCancel(ctx)) })
		if err != nil {
			return nil, err
		}
	}
	return h.last.Load().users[user], nil
}

// refresh reads which users have rights, unless a concurrent call has just done so.
func (h *rightHolders) refresh(ctx context.Context) error {
	if h.last.Load().isFresh(h.now()) {
		return nil
	}
	read := &holdersThen{at: h.now(), users: map[social.UserID]*social.User{}}
	users, err := h.read(ctx)
	if err != nil {
		return err
	}
	for _, u := range users {
		read.users[u.ID] = u
	}
	h.last.Store(read)
	return nil
}
