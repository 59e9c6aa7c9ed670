// Package punt carries frames between the forwarder's workers and control, over memory that both
// processes map, and bounds how many may come up.
//
//	worker --Policers.Admit--> punt ring ----> control's receivers
//	worker <------------------ inject ring <-- control's senders
//
// A ring has one producer and one consumer, who do not trust each other: bytes are copied in and out,
// a position or length that cannot be is never followed, and what is lost is counted in the ring's own
// memory. A consumer that sleeps on the ring's event descriptor is woken; one that is busy is not.
//
// Reading order: ring.go (layout, push, pop), bell.go (sleep and wake), policer.go (token buckets),
// source.go (the table of source addresses).
package punt
