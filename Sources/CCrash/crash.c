#define _GNU_SOURCE
#include "CCrash.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { SIGNAL_COUNT = 5 };
static const int fatal_signals[SIGNAL_COUNT] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT};

// Set before the first handler is in place, and never changed.
static struct sigaction former[SIGNAL_COUNT];
static int record_descriptor = -1;
static const int64_t *record_slots;
static int record_capacity;
static int64_t *record_words;

// The thread that writes the record, by its id; 0 before the first signal.
static atomic_int writer;

static void write_record(int number) {
    int64_t count = 0;
    for (int i = 0; i < record_capacity; i++) {
        int64_t id = __atomic_load_n(&record_slots[i], __ATOMIC_ACQUIRE);
        if (id != 0) record_words[XFER_CRASH_HEADER_WORDS + count++] = id;
    }
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_REALTIME, &now);
    record_words[0] = xfer_crash_magic;
    record_words[1] = number;
    record_words[2] = getpid();
    record_words[3] = (int64_t)((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    record_words[4] = count;
    const char *bytes = (const char *)record_words;
    size_t left = (size_t)(XFER_CRASH_HEADER_WORDS + count) * sizeof(int64_t);
    off_t offset = 0;
    while (left > 0) {
        ssize_t written = pwrite(record_descriptor, bytes, left, offset);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        bytes += written;
        offset += written;
        left -= (size_t)written;
    }
}

// Lets whoever handled it before do so, Swift's backtraces for example, and what comes next end the process. Whoever
// handled it may count on the faulting instruction to fault again, which a signal sent with kill(2) does not do.
static void hand_on(int number, siginfo_t *info, void *context) {
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        if (fatal_signals[i] != number) continue;
        // Blocked is what the kernel would block: Swift's backtraces read memory under a handler of SIGSEGV.
        sigset_t mask = ((ucontext_t *)context)->uc_sigmask;
        for (int other = 1; other < 65; other++) {
            if (sigismember(&former[i].sa_mask, other) == 1) sigaddset(&mask, other);
        }
        if (!(former[i].sa_flags & SA_NODEFER)) sigaddset(&mask, number);
        pthread_sigmask(SIG_SETMASK, &mask, NULL);
        if (former[i].sa_flags & SA_SIGINFO) {
            former[i].sa_sigaction(number, info, context);
        } else if (former[i].sa_handler != SIG_DFL && former[i].sa_handler != SIG_IGN) {
            former[i].sa_handler(number);
        }
    }
    sigset_t self;
    sigemptyset(&self);
    sigaddset(&self, number);
    pthread_sigmask(SIG_BLOCK, &self, NULL);
    struct sigaction original = {.sa_handler = SIG_DFL};
    sigaction(number, &original, NULL);
}

// Not SA_RESETHAND: with it a second thread that faults meanwhile would end the process before the record is written.
static void on_fatal_signal(int number, siginfo_t *info, void *context) {
    int saved = errno;
    int none = 0;
    int self = (int)syscall(SYS_gettid);
    if (atomic_compare_exchange_strong(&writer, &none, self)) {
        write_record(number);
    } else if (none != self) {
        // The other thread ends the process; half a minute is plenty for a backtrace.
        struct timespec moment = {0, 5000000};
        for (int i = 0; i < 6000; i++) nanosleep(&moment, NULL);
    }
    hand_on(number, info, context);
    // It comes again, with its facts and at the same instruction, as soon as this handler returns: it is blocked until
    // then.
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), self, number, info) != 0) {
        syscall(SYS_tgkill, getpid(), self, number);
    }
    errno = saved;
}

bool xfer_crash_record_to(int descriptor, const int64_t *slots, int count, int64_t *record) {
    record_descriptor = descriptor;
    record_slots = slots;
    record_capacity = count;
    record_words = record;
    xfer_crash_prepare_thread();
    struct sigaction action = {0};
    action.sa_sigaction = on_fatal_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNAL_COUNT; i++) sigaddset(&action.sa_mask, fatal_signals[i]);
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        if (sigaction(fatal_signals[i], NULL, &former[i]) != 0) return false;
        // Who started this process wants it ignored: then it ends nothing.
        if (!(former[i].sa_flags & SA_SIGINFO) && former[i].sa_handler == SIG_IGN) continue;
        if (sigaction(fatal_signals[i], &action, NULL) != 0) return false;
    }
    return true;
}

// MARK: A stack for each thread

enum { STACK_BYTES = 64 << 10 };

static pthread_key_t stack_key;
static bool has_stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static _Thread_local bool is_prepared;

static void give_back(void *stack) {
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    munmap(stack, STACK_BYTES);
}

static void make_stack_key(void) { has_stack_key = pthread_key_create(&stack_key, give_back) == 0; }

void xfer_crash_prepare_thread(void) {
    if (is_prepared) return;
    is_prepared = true;
    stack_t current;
    // Somebody else's, Swift's runtime's for example, serves as well.
    if (sigaltstack(NULL, &current) != 0 || !(current.ss_flags & SS_DISABLE)) return;
    pthread_once(&stack_once, make_stack_key);
    if (!has_stack_key) return;
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return;
    // The lowest page catches what runs over its end.
    mprotect(stack, 4096, PROT_NONE);
    stack_t own = {.ss_sp = stack, .ss_size = STACK_BYTES};
    if (sigaltstack(&own, NULL) != 0 || pthread_setspecific(stack_key, stack) != 0) give_back(stack);
}
