package vbng

import (
	_ "github.com/c-bata/go-prompt"
	_ "github.com/vishvananda/netlink"
	_ "go.etcd.io/bbolt"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "layeh.com/radius"
	_ "layeh.com/radius/rfc2865"
	_ "layeh.com/radius/rfc2866"
	_ "layeh.com/radius/rfc2869"
)
