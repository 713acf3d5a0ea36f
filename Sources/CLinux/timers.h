#pragma once
#include <sys/timerfd.h>

// timerfd_create(2), which Swift's Glibc does not show: a descriptor whose read waits for a point in time on `clock`.
static inline int xfer_timerfd_create(int clock) { return timerfd_create(clock, TFD_CLOEXEC); }

// timerfd_settime(2): once, at this time on the timer's clock; at once when that is past.
static inline int xfer_timerfd_set(int timer, long seconds, long nanoseconds) {
    struct itimerspec when = {.it_value = {.tv_sec = seconds, .tv_nsec = nanoseconds}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, 0);
}
