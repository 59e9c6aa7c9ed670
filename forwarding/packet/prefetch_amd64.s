#include "textflag.h"

// func prefetchScaled(base unsafe.Pointer, column *uint32, slot *uint8, n int, mask uint32, scale uintptr)
TEXT ·prefetchScaled(SB), NOSPLIT, $0-48
	MOVQ base+0(FP), AX
	MOVQ column+8(FP), BX
	MOVQ slot+16(FP), DX
	MOVQ n+24(FP), DI
	MOVL mask+32(FP), CX
	MOVQ scale+40(FP), R8
	ADDQ DX, DI

scaled:
	MOVBLZX (DX), SI
	MOVL    (BX)(SI*4), SI
	ANDL    CX, SI
	IMULQ   R8, SI
	PREFETCHT0 (AX)(SI*1)
	INCQ DX
	CMPQ DX, DI
	JNE  scaled
	RET

// func prefetchWords(base unsafe.Pointer, column *uint32, slot *uint8, n int, shift uint64)
TEXT ·prefetchWords(SB), NOSPLIT, $0-40
	MOVQ base+0(FP), AX
	MOVQ column+8(FP), BX
	MOVQ slot+16(FP), DX
	MOVQ n+24(FP), DI
	MOVQ shift+32(FP), CX
	ADDQ DX, DI

words:
	MOVBLZX (DX), SI
	MOVL    (BX)(SI*4), SI
	SHRL    CX, SI
	PREFETCHT0 (AX)(SI*4)
	INCQ DX
	CMPQ DX, DI
	JNE  words
	RET
