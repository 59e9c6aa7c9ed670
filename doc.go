// Package vbng is a virtual broadband network gateway. The root holds no code, only the tests that
// keep the whole tree to its rules; ARCHITECTURE.md is the place to start reading.
package vbng
