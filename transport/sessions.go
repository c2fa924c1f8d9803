package transport

import "context"

// CloseSession ends the sockets that authenticated with a session: its subscriptions immediately,
// then, after the running queries and mutations (at most Options.FinishTimeout), the socket itself
// with 4403. It returns without waiting. Call it after the token is revoked: Options.Authenticate
// rejects operations that start later.
func (s *Server) CloseSession(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.sessions[key] {
		go k.drain(closeForbidden, "Forbidden")
	}
}

func (s *Server) addSocket(k *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sockets[k] = struct{}{}
	if s.closed { // it slipped in between the check and here
		go k.drain(1001, "Going away")
	}
}

func (s *Server) removeSocket(k *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sockets, k)
	members := s.sessions[k.session]
	delete(members, k)
	if len(members) == 0 {
		delete(s.sessions, k.session)
	}
}

func (s *Server) closedToSockets() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Sockets says how many websockets are open.
func (s *Server) Sockets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

// joinSession registers a socket for CloseSession.
func (s *Server) joinSession(authenticated context.Context, k *socket) {
	if s.options.SessionKey == nil {
		return
	}
	key := s.options.SessionKey(authenticated)
	if key == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k.session = key
	if s.sessions[key] == nil {
		s.sessions[key] = map[*socket]struct{}{}
	}
	s.sessions[key][k] = struct{}{}
}
