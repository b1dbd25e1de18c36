package admin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"
)

// Limits of one exchange. A reload of a very large zone takes seconds, so
// only the request is bounded tightly.
const (
	readTimeout   = 10 * time.Second
	writeTimeout  = 5 * time.Minute
	maxHeader     = 16 << 10 // bytes
	maxBody       = 64 << 10 // bytes
	idleKeepAlive = time.Minute
)

// Server answers on the Unix socket.
type Server struct {
	http   *http.Server
	listen net.Listener
	path   string
	log    *zap.Logger
	done   chan struct{}
	events *eventServer
}

// New makes a server for the socket at path; nothing is bound yet. log may be nil.
func New(path string, backend Backend, log *zap.Logger) *Server {
	if log == nil {
		log = zap.NewNop()
	}
	events := newEventServer(backend)
	return &Server{
		path:   path,
		log:    log,
		done:   make(chan struct{}),
		events: events,
		http: &http.Server{
			Handler:           handler(backend, events),
			ReadHeaderTimeout: readTimeout,
			ReadTimeout:       readTimeout,
			WriteTimeout:      writeTimeout,
			IdleTimeout:       idleKeepAlive,
			MaxHeaderBytes:    maxHeader,
			ErrorLog:          zap.NewStdLog(log),
		},
	}
}

// Start binds the socket and answers from then on. The error is an *Error.
func (s *Server) Start() error {
	ln, err := listenUnix(s.path)
	if err != nil {
		return err
	}
	s.serve(ln)
	return nil
}

// serve answers on a listener until Stop.
func (s *Server) serve(ln net.Listener) {
	s.listen = ln
	go func() {
		defer close(s.done)
		if err := s.http.Serve(ln); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("admin socket failed", zap.String("socket", s.path), zap.Error(err))
		}
	}()
}

// Stop ends streams, waits for other exchanges in hand until ctx ends, then cuts
// them off. The socket file is gone afterwards. It does nothing on a server never
// started.
func (s *Server) Stop(ctx context.Context) error {
	if s.listen == nil {
		return nil
	}
	s.events.end()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	<-s.done
	return err
}

// handler gives the interface as an http.Handler.
func handler(b Backend, events *eventServer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/status", func(w http.ResponseWriter, r *http.Request) { serveStatus(w, r, b) })
	mux.HandleFunc("GET /api/v1/explain", func(w http.ResponseWriter, r *http.Request) { serveExplain(w, r, b) })
	mux.HandleFunc("GET /api/v1/events", events.serve)
	mux.HandleFunc("POST /api/v1/reload", func(w http.ResponseWriter, r *http.Request) { serveReload(w, r, b) })
	mux.HandleFunc("GET /healthz", serveAlive)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { serveReady(w, b) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if _, pattern := mux.Handler(r); pattern == "" {
			serveUnknown(w, r, mux)
			return
		}
		mux.ServeHTTP(w, r)
	})
}
