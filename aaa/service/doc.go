// Package service is the configured whole of AAA: the subsystem "aaa".
//
//	                     configuration: radius server, aaa, aaa group, user
//	                                  |
//	sessions -- Authorize --> chain --+--> local users
//	                                  +--> radius client --> servers
//	sessions -- Account ----> accountant --> radius client --> servers
//	                              |
//	                              +--> store (records that no server has taken yet)
//
// It owns no protocol: it turns configuration into settings, joins the parts, counts answers and shows
// them. Changing the configuration disturbs no request in progress.
//
// Profiles name an aaa group, or none: then "aaa" itself decides. A group has methods, a choice of servers, and a lane
// of its own for records. A group that was removed judges nobody any more; its records go on as before.
//
// Reading order: service.go, group.go, config.go, check.go, keep.go, show.go.
package service
