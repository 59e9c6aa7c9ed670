// Package netns moves the control process into a network namespace of its own, and lets it do single
// things in the one that it was started in.
//
//	vbngd (started in the host's namespace)
//	  Enter("vbng"): make the namespace if absent, setns, execute itself once more
//	  vbngd (in vbng)  -- Do(Host, ...) --> the forwarder's start, settings of ports, management sockets
//
// A Go program has threads that it does not control, and a namespace belongs to a thread. So the whole
// process changes over by being executed anew from a thread that has changed; single things are done
// on a thread that is locked meanwhile.
//
// Names are those of "ip netns": bind mounts in /run/netns.
package netns
