// Package service is the configured whole of AAA: the subsystem "aaa".
//
//	                     configuration: radius server, aaa, user
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
// Reading order: service.go, config.go, keep.go, show.go.
package service
