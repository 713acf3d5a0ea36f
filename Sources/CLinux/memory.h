#pragma once
// Giving memory back. Glibc's module does not hold <malloc.h>; declared here without including it, see files.h.
#include <sys/syscall.h>

int mallopt(int parameter, int value);
int malloc_trim(unsigned long kept);
long syscall(long number, ...);

// mallopt(3): `arenas` heaps for all threads; blocks of `mapped` bytes and more are mapped singly, so that they go back
// to the system when they are freed, however many come; `spare` bytes may stay free at a heap's end, so that it does not
// shrink and grow all the time.
static inline void xfer_keep_heap_small(int arenas, int mapped, int spare) {
    mallopt(-8 /* M_ARENA_MAX */, arenas);
    mallopt(-3 /* M_MMAP_THRESHOLD */, mapped);
    mallopt(-1 /* M_TRIM_THRESHOLD */, spare);
}

// malloc_trim(3): whole free pages within the heaps.
static inline void xfer_trim_heap(void) { malloc_trim(0); }

// Set by the linker. What lies between them is read-only: nothing in it can be lost.
extern char __executable_start, etext;

// MADV_DONTNEED (madvise(2)) on the program's code: it is mapped again, page by page, where it is executed.
static inline void xfer_release_code(void) {
    unsigned long begin = (unsigned long)&__executable_start, end = (unsigned long)&etext & ~4095UL;
    if (begin < end) syscall(SYS_madvise, begin, end - begin, 4UL /* MADV_DONTNEED */);
}
