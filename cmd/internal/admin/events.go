package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Limits of streams of events.
const (
	maxStreams  = 64               // at a time
	streamWrite = 10 * time.Second // for a reader to take what is sent
	streamEnd   = time.Second      // the same once the stream ends
	keepAlive   = 15 * time.Second // of silence at most
)

// eventStream is the media type of a stream (WHATWG HTML §9.2).
const eventStream = "text/event-stream"

// eventServer serves /api/v1/events.
type eventServer struct {
	backend Backend
	streams context.Context // streams end with it
	end     context.CancelFunc
	places  chan struct{} // holds one value for each stream
}

func newEventServer(b Backend) *eventServer {
	s := &eventServer{backend: b, places: make(chan struct{}, maxStreams)}
	s.streams, s.end = context.WithCancel(context.Background())
	return s
}

// serve answers with the events as a document, or with a stream if that is
// asked for.
func (s *eventServer) serve(w http.ResponseWriter, r *http.Request) {
	after, given, err := eventsAfter(r)
	switch {
	case err != nil:
		writeError(w, err)
	case !takesStream(r.Header.Values("Accept")):
		events, _ := s.backend.Events(after)
		if events == nil {
			events = []Event{}
		}
		writeJSON(w, http.StatusOK, EventList{Events: events})
	case given:
		s.stream(w, r, after)
	default: // what has been is not asked for
		if events, _ := s.backend.Events(0); len(events) > 0 {
			after = events[len(events)-1].ID
		}
		s.stream(w, r, after)
	}
}

// eventsAfter reads the ID of the last event that the reader knows: from the
// header Last-Event-ID, which browsers send when they connect again to the URL
// that they began with, or else from ?after=.
func eventsAfter(r *http.Request) (after uint64, given bool, err error) {
	what, text := "Last-Event-ID: ", r.Header.Get("Last-Event-ID")
	if text == "" {
		what, text = "after=", r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, false, nil
	}
	after, err = strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, false, &Error{Message: what + text + " is not the ID of an event", Hint: "write the id of the last event known, a whole number; 0 for all events"}
	}
	return after, true, nil
}

// takesStream reports whether the values of Accept (RFC 9110 §12.5.1) list
// text/event-stream.
func takesStream(accept []string) bool {
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		kind, params, err := mime.ParseMediaType(part)
		if err != nil || kind != eventStream {
			continue
		}
		if q, err := strconv.ParseFloat(params["q"], 64); err != nil || q > 0 {
			return true
		}
	}
	return false
}

// stream sends the events after an ID, and each new one, until the reader has
// gone, takes too long or the server stops.
func (s *eventServer) stream(w http.ResponseWriter, r *http.Request, after uint64) {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		writeError(w, &Error{
			Status:  http.StatusServiceUnavailable,
			Message: fmt.Sprintf("%d readers follow the events already", maxStreams),
			Hint:    "end one of them, or ask for /api/v1/events?after=ID now and then, without Accept: " + eventStream,
		})
		return
	}
	w.Header().Set("Content-Type", eventStream)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	out := &streamWriter{w: w, control: http.NewResponseController(w), ctx: ctx}
	// A reader that takes nothing does not hold up the stop.
	defer context.AfterFunc(s.streams, func() { cancel(); out.end() })()
	defer out.end()                    // which the other may come too late for
	after, err := s.follow(out, after) // it ends in no other way than by an error
	if s.streams.Err() != nil && errors.Is(err, context.Canceled) {
		_ = s.rest(out, after)
	}
}

// rest sends what happened up to the stop, within the time that end leaves.
func (s *eventServer) rest(out *streamWriter, after uint64) error {
	out.end()
	events, _ := s.backend.Events(after)
	for _, e := range events {
		text, err := streamed(e)
		if err == nil {
			_, err = out.w.Write(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// follow sends until something stands against it, and gives the last ID sent.
func (s *eventServer) follow(out *streamWriter, after uint64) (last uint64, err error) {
	if err := out.send([]byte("retry: 2000\n\n")); err != nil {
		return after, err
	}
	for {
		events, more := s.backend.Events(after)
		for _, e := range events {
			if err := out.event(e); err != nil {
				return after, err
			}
			after = e.ID
		}
		if err := out.control.Flush(); err != nil {
			return after, err
		}
		select {
		case <-more:
		case <-out.ctx.Done():
			return after, out.ctx.Err()
		case <-time.After(keepAlive):
			if err := out.send([]byte(":\n\n")); err != nil {
				return after, err
			}
		}
	}
}

// streamWriter writes one stream.
type streamWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	ctx     context.Context
}

func (s *streamWriter) event(e Event) error {
	text, err := streamed(e)
	if err != nil {
		return err
	}
	return s.send(text)
}

// streamed writes an event as a stream has it.
func streamed(e Event) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "id: %d\nevent: %s\ndata: ", e.ID, e.Kind)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e) // one line, and its end
	b.WriteByte('\n')
	return b.Bytes(), err
}

// send writes within streamWrite, which takes the place of the server's limit
// for a whole reply. It looks at the context only after it has
// set the deadline, so that it does not undo what a stop sets.
func (s *streamWriter) send(text []byte) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(streamWrite)); err != nil {
		return err
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	_, err := s.w.Write(text)
	return err
}

// end leaves a short time for what is left to be written.
func (s *streamWriter) end() {
	_ = s.control.SetWriteDeadline(time.Now().Add(streamEnd))
}
