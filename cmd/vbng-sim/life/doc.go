// Package life is what the kinds of subscribers have in common: how far one has come, what it ended of, and which
// addresses it has. It has no behaviour of its own.
package life
