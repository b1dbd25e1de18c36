// Package admin is the HTTP interface to a running gslbd, and its Go client.
//
// Today it is served on a Unix socket only: whoever can open the socket may do
// everything. Replies are JSON documents, and events also come as a stream; an
// error is {"error","hint"}.
package admin
