#pragma once
// Timers of the kernel's that are descriptors. Made by number and without <sys/timerfd.h>: whoever includes that owns
// `struct timespec` in Swift's eyes, see files.h.
#include <sys/syscall.h>

long syscall(long number, ...);

// timerfd_create(2): a descriptor whose read waits for a point in time on `clock`.
static inline int xfer_timerfd_create(int clock) {
    return (int)syscall(SYS_timerfd_create, clock, 02000000 /* TFD_CLOEXEC */);
}

// timerfd_settime(2): once, at this time on the timer's clock; at once when that is past.
static inline int xfer_timerfd_set(int timer, long seconds, long nanoseconds) {
    struct { long interval[2], value[2]; } when = {{0, 0}, {seconds, nanoseconds}};
    return (int)syscall(SYS_timerfd_settime, timer, 1 /* TFD_TIMER_ABSTIME */, &when, (void *)0);
}

// timerfd_settime(2) for a timer on CLOCK_REALTIME: its read fails with ECANCELED when the clock is set, and else waits
// (until the year 2255, near the end of the kernel's time).
static inline int xfer_timerfd_watch_clock(int timer) {
    struct { long interval[2], value[2]; } when = {{0, 0}, {9000000000, 0}};
    return (int)syscall(SYS_timerfd_settime, timer, 3 /* TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET */, &when, (void *)0);
}

// clock_gettime(2) in nanoseconds. Not in Swift, where whoever names `struct timespec` beside CLinux makes it CLinux's own
// for the whole module; -1 on failure.
static inline long long xfer_clock_nanoseconds(int clock) {
    struct { long seconds, nanoseconds; } now;
    if (syscall(SYS_clock_gettime, clock, &now) != 0) return -1;
    return now.seconds * 1000000000LL + now.nanoseconds;
}
