package dnsserver

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
)

// leaveTimeout bounds how long TCP connections of a removed address may take to finish what they have read.
const leaveTimeout = 5 * time.Second

// maxWorkers bounds the UDP workers of a server, each of which has a thread of its own: the runtime ends a process that has 10,000, and
// while addresses are replaced, the old and the new ones are there at the same time.
const maxWorkers = 4096

// Listen makes addresses, written as in Options.Listen, those that are served. First it binds the new ones, all or none: an error is a
// *ListenError, or tells that the server does not run, and then nothing has changed. Otherwise the caller must call commit, once: it
// serves the new addresses, then ends the removed ones, which answer the queries they hold; TCP connections get up to 5 s for that and
// do not hold up commit. The sockets of addresses that stay, in whatever order, are not touched; port 0 that stays keeps its port. On
// Linux an address may be replaced by one that overlaps with it, such as "192.0.2.1:53" by ":53". Calls wait for one another.
func (s *Server) Listen(addresses []string) (commit func(), err error) {
	s.changing.Lock()
	var replace func()
	if err = s.running(); err == nil {
		replace, err = s.bindAll(addresses)
	}
	if err != nil {
		s.changing.Unlock()
		return nil, err
	}
	return func() {
		defer s.changing.Unlock()
		replace()
	}, nil
}

// bindAll binds what is not bound of the addresses, or nothing. The caller holds changing.
func (s *Server) bindAll(addresses []string) (commit func(), err error) {
	groups, err := parseListen(addresses)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	kept, gone := match(groups, s.listeners)
	serving := len(s.listeners) * s.opts.Workers
	s.mu.Unlock()
	if err := s.tooMany(groups, kept, serving); err != nil {
		return nil, err
	}
	var fresh []*listener
	// An address that overlaps with one to go takes its clients as soon as it is bound: those come last, when little can fail.
	for _, takesOver := range []bool{false, true} {
		for i, group := range groups {
			missing := absent(group, kept[i])
			if len(missing) == 0 || takesOver != slices.ContainsFunc(missing, func(e endpoint) bool { return overlaps(e, gone) }) {
				continue
			}
			port := missing[0].addr.Port()
			if len(kept[i]) > 0 {
				port = kept[i][0].bound.Port() // where 0 was asked, all have the same
			}
			bound, err := s.bindGroup(missing, port, gone)
			if err != nil && !(len(kept[i]) > 0 && missing[0].optional && familyMissing(err)) {
				s.discard(fresh)
				return nil, err
			}
			fresh, kept[i] = append(fresh, bound...), append(kept[i], bound...)
		}
	}
	s.reportBuffers()
	return func() { s.replace(slices.Concat(kept...), fresh, gone) }, nil
}

// tooMany refuses more workers than there may be, or than may be added to those that serve already.
func (s *Server) tooMany(groups [][]endpoint, kept [][]*listener, serving int) error {
	if !batches {
		return nil
	}
	addresses, fresh := 0, 0
	for i, group := range groups {
		addresses += len(group)
		if len(kept[i]) == 0 { // else only a family can be missing, which may go on missing
			fresh += len(group)
		}
	}
	workers := addresses * s.opts.Workers
	if workers <= maxWorkers {
		return haveThreads(fresh, s.opts.Workers, serving)
	}
	e := &ListenError{Reason: fmt.Sprintf("%d addresses with %d UDP workers each are %d threads, at most %d", addresses, s.opts.Workers, workers, maxWorkers),
		Hint: "listen on fewer addresses"}
	if most := maxWorkers / addresses; most > 0 {
		e.Hint += fmt.Sprintf(", or set udp.workers to %d and restart", most)
	}
	return e
}

// match finds for each group the listeners that serve it already; gone are those that no group asks for. An address with port 0 is the
// same when it was asked for in the same words, one with a port also when port 0 led to it.
func match(groups [][]endpoint, listeners []*listener) (kept [][]*listener, gone []*listener) {
	kept, gone = make([][]*listener, len(groups)), slices.Clone(listeners)
	take := func(same func(e endpoint, l *listener) bool) {
		for i, group := range groups {
			for _, e := range absent(group, kept[i]) {
				if at := slices.IndexFunc(gone, func(l *listener) bool { return same(e, l) }); at >= 0 {
					kept[i] = append(kept[i], gone[at])
					gone = slices.Delete(gone, at, at+1)
				}
			}
		}
	}
	take(func(e endpoint, l *listener) bool { return e.addr == l.bound }) // first, or port 0 could take a port that is asked for
	take(func(e endpoint, l *listener) bool { return e == l.endpoint })
	return kept, gone
}

// absent lists the endpoints of a group that none of the listeners serves.
func absent(group []endpoint, listeners []*listener) []endpoint {
	return slices.DeleteFunc(slices.Clone(group), func(e endpoint) bool {
		return slices.ContainsFunc(listeners, func(l *listener) bool { return l.bound.Addr() == e.addr.Addr() })
	})
}

// overlaps reports whether an endpoint cannot be bound beside one of the listeners.
func overlaps(e endpoint, listeners []*listener) bool {
	return slices.ContainsFunc(listeners, func(l *listener) bool { return overlap(e.addr, l.bound) })
}

// discard gives listeners back that are not to serve. Those that took over from one that stays answer what they got meanwhile, all at
// once: each one takes a moment, and clients wait.
func (s *Server) discard(bound []*listener) {
	ctx, cancel := context.WithTimeout(s.life, leaveTimeout)
	defer cancel()
	var left sync.WaitGroup
	for _, l := range bound {
		if l.tookOver {
			l.serve()
			left.Go(func() { _ = l.stop(ctx) })
		} else {
			l.close()
		}
	}
	left.Wait()
	for _, l := range bound {
		s.forget(l)
	}
}

// replace serves fresh, makes all the list of listeners, and ends gone.
func (s *Server) replace(all, fresh, gone []*listener) {
	s.mu.Lock()
	if s.stopped {
		s.mu.Unlock()
		s.discard(fresh)
		return
	}
	s.listeners = all
	s.leaving.Add(len(gone))
	for _, l := range fresh {
		l.serve()
		s.opts.Log.Info("listening", zap.Stringer("address", l.bound))
	}
	s.mu.Unlock()
	var left sync.WaitGroup // all at once: each one takes a moment
	for _, l := range gone {
		left.Go(func() { s.leave(l) })
	}
	left.Wait()
	for _, l := range gone {
		s.opts.Log.Info("no longer listening", zap.Stringer("address", l.bound))
	}
}

// leave ends a listener and returns when its sockets are closed; its TCP connections may go on for a while.
func (s *Server) leave(l *listener) {
	l.stopUDP()
	s.forget(l)
	go func() {
		defer s.leaving.Done()
		ctx, cancel := context.WithTimeout(s.life, leaveTimeout)
		defer cancel()
		if err := l.tcp.stop(ctx); err != nil {
			s.opts.Log.Warn("connections of a removed address cut off", zap.Stringer("address", l.bound), zap.Error(err))
		}
		l.running.Wait()
	}()
	<-l.tcp.gone
}
