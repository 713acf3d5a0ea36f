/* Lets the wall clock of one process jump: preloaded into xferd by Tests/alerts/run.

   While the file $CLOCK_FILE exists, CLOCK_REALTIME is an hour ahead. The thread that watches the clock waits in read(2) on
   a timer, which the kernel ends with ECANCELED when the clock was set; here the file's appearance ends it so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static int is_set(void) {
    const char *file = getenv("CLOCK_FILE");
    int saved = errno;
    int found = file && access(file, F_OK) == 0;
    errno = saved;
    return found;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME && is_set()) now->tv_sec += 3600;
    return result;
}

ssize_t read(int descriptor, void *buffer, size_t count) {
    static ssize_t (*real)(int, void *, size_t);
    static int has_been_set;
    if (!real) real = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    char name[16] = "";
    if (count == 8 && prctl(PR_GET_NAME, name) == 0 && strcmp(name, "xferd-clock") == 0) {
        while (has_been_set || !is_set()) usleep(50000);
        has_been_set = 1;
        errno = ECANCELED;
        return -1;
    }
    return real(descriptor, buffer, count);
}
