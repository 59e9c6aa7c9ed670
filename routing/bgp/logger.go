package bgp

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/osrg/gobgp/v3/pkg/log"
)

// logger hands what GoBGP says to the router's log, and the reason of each lost session to down.
type logger struct {
	log  *slog.Logger
	down func(neighbor, reason string)
}

// quiet are messages that tell what we ourselves just ordered.
var quiet = []string{
	"Add a peer configuration", "Delete a peer configuration", "call set policy", "Neighbor soft reset in", "Neighbor soft reset out",
	"Update timer configuration", "update prefix limit configuration",
}

func (l *logger) write(level slog.Level, message string, fields log.Fields) {
	if message == "Peer Down" && l.down != nil {
		l.down(fmt.Sprint(fields["Key"]), fmt.Sprint(fields["Reason"]))
	}
	if slices.Contains(quiet, message) {
		level = slog.LevelDebug
	}
	if !l.log.Enabled(context.Background(), level) {
		return
	}
	var args []any
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch name {
		case "Topic", log.FieldFacility:
		case "Key":
			args = append(args, "neighbor", fmt.Sprint(fields[name]))
		default:
			args = append(args, name, fmt.Sprint(fields[name]))
		}
	}
	l.log.Log(context.Background(), level, "bgp: "+message, args...)
}

// Panic implements log.Logger. GoBGP means to stop the process with it; a router does not stop for BGP.
func (l *logger) Panic(message string, fields log.Fields) { l.write(slog.LevelError, message, fields) }

// Fatal implements log.Logger, see Panic.
func (l *logger) Fatal(message string, fields log.Fields) { l.write(slog.LevelError, message, fields) }

// Error implements log.Logger.
func (l *logger) Error(message string, fields log.Fields) { l.write(slog.LevelError, message, fields) }

// Warn implements log.Logger.
func (l *logger) Warn(message string, fields log.Fields) { l.write(slog.LevelWarn, message, fields) }

// Info implements log.Logger.
func (l *logger) Info(message string, fields log.Fields) { l.write(slog.LevelInfo, message, fields) }

// Debug implements log.Logger.
func (l *logger) Debug(message string, fields log.Fields) { l.write(slog.LevelDebug, message, fields) }

// SetLevel implements log.Logger; the router's own log has the level.
func (l *logger) SetLevel(log.LogLevel) {}

// GetLevel implements log.Logger: GoBGP asks before it formats what is costly.
func (l *logger) GetLevel() log.LogLevel {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		return log.DebugLevel
	}
	return log.InfoLevel
}
