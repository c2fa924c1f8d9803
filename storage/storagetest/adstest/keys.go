package adstest

import (
	"bytes"
	"slices"
)

var keyCases = []testCase{
	{"SigningKeyIsStoredOnce", signingKeyIsStoredOnce},
	{"AllCallersGetOneSigningKey", signingKeyIsOneForAll},
}

func signingKeyIsStoredOnce(w *world) {
	first := []byte{0, 1, 2, 0xff, 0}
	got, err := w.SigningKey(w.ctx, first)
	w.ok(err, "SigningKey")
	w.same(got, []byte{0, 1, 2, 0xff, 0}, "the key")
	first[0] = 9 // the store must have its own copy
	again, err := w.SigningKey(w.ctx, []byte("another"))
	w.ok(err, "SigningKey again")
	w.same(again, []byte{0, 1, 2, 0xff, 0}, "the key that was stored before")
}

func signingKeyIsOneForAll(w *world) {
	keys := make([][]byte, crowd)
	together(func(i int) {
		key, err := w.SigningKey(w.ctx, bytes.Repeat([]byte{byte(i)}, 32))
		if err != nil {
			w.t.Errorf("SigningKey: %v", err)
		}
		keys[i] = key
	})
	distinct := slices.CompactFunc(keys, bytes.Equal)
	w.same(len(distinct), 1, "how many keys callers got")
	w.same(len(distinct[0]), 32, "the key's length")
}
