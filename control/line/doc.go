// Package line matches the words of one line against what may stand at each of its places. The
// configuration parser, the shell's commands, completion and '?' all use this one matcher, so what one
// accepts the others do too.
//
//	text --Split--> []Word --Match--> []Token (each word's Item and canonical text)
//	                       --Expect-> []*Item (what may come next: completion, '?')
//
// Literals may be abbreviated where one literal begins with the word. A quoted word is never a
// literal, which lets an operator use a name that is also a keyword.
//
// Reading order: item.go, split.go, match.go.
package line
