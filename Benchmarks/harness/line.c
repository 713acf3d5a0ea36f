/* A line between two network namespaces, in user space: for kernels without netem.
 *
 * Usage: line NEAR FAR. The namespaces exist (ip-netns(8)). Each gets a TUN device "line"; the near one has the address
 * 10.99.0.1/16, the far one 10.99.0.2/16. The line is set with lines of standard input, each with five numbers:
 *
 *     DELAY JITTER LOSS RATE QUEUE
 *
 * milliseconds in each direction, milliseconds, share of packets, bits per second (0: unlimited), and the milliseconds
 * of traffic that the queue before the rate holds. A loss of 1 is a line that is cut. The program ends with its input.
 * Packets of a direction never overtake each other, as on a real line. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { MTU = 1500, PACKETS = 1 << 16 };

struct packet {
    int64_t leaves;
    uint16_t length;
    unsigned char bytes[MTU];
};

/* One direction: a ring of the packets on their way. */
struct direction {
    int from, to;
    struct packet *ring;
    unsigned first, count;
    /* When the rate lets the next packet begin; when the last one leaves. */
    int64_t free_at, last;
};

static struct { double delay, jitter, loss, rate, queue; } set;
static uint64_t random_state = 0x9E3779B97F4A7C15u;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* xorshift64: the same packets are lost in each run. */
static double draw(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) / 9007199254740992.0;
}

static int open_end(const char *name, const char *address) {
    char path[256], command[256];
    snprintf(path, sizeof path, "/run/netns/%s", name);
    int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), space = open(path, O_RDONLY | O_CLOEXEC);
    if (own < 0 || space < 0 || setns(space, CLONE_NEWNET) != 0) fail(path);
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    struct ifreq request = {.ifr_name = "line"};
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (device < 0 || ioctl(device, TUNSETIFF, &request) != 0) fail("/dev/net/tun");
    snprintf(command, sizeof command,
             "ip link set lo up && ip address add %s/16 dev line && ip link set line mtu %d txqueuelen 10000 up", address, MTU);
    if (system(command) != 0) exit(1);
    if (setns(own, CLONE_NEWNET) != 0) fail("setns");
    close(own);
    close(space);
    return device;
}

static void receive(struct direction *way) {
    for (int turn = 0; turn < 256; turn++) {
        if (way->count == PACKETS) return;
        struct packet *packet = &way->ring[(way->first + way->count) % PACKETS];
        ssize_t length = read(way->from, packet->bytes, MTU);
        if (length <= 0) return;
        if (set.loss > 0 && draw() < set.loss) continue;
        int64_t leaves = now();
        if (set.rate > 0) {
            int64_t begin = way->free_at > leaves ? way->free_at : leaves;
            if ((double)(begin - leaves) > set.queue * 1e6) continue;
            leaves = way->free_at = begin + (int64_t)((double)length * 8e9 / set.rate);
        }
        leaves += (int64_t)((set.delay + set.jitter * draw()) * 1e6);
        if (leaves < way->last) leaves = way->last;
        packet->leaves = way->last = leaves;
        packet->length = (uint16_t)length;
        way->count++;
    }
}

/* Sends what is due. Returns when the next packet is, or -1. */
static int64_t deliver(struct direction *way) {
    while (way->count > 0) {
        struct packet *packet = &way->ring[way->first];
        if (packet->leaves > now()) return packet->leaves;
        if (write(way->to, packet->bytes, packet->length) < 0 && errno == EAGAIN) return now() + 100000;
        way->first = (way->first + 1) % PACKETS;
        way->count--;
    }
    return -1;
}

/* Reads settings. Returns 0 at the end of the input. */
static int change(void) {
    static char text[512];
    static size_t length;
    ssize_t count = read(0, text + length, sizeof text - 1 - length);
    if (count <= 0) return 0;
    length += (size_t)count;
    text[length] = 0;
    for (char *end; (end = strchr(text, '\n')); ) {
        *end = 0;
        if (sscanf(text, "%lf %lf %lf %lf %lf", &set.delay, &set.jitter, &set.loss, &set.rate, &set.queue) != 5)
            fprintf(stderr, "line: no five numbers: %s\n", text);
        length -= (size_t)(end + 1 - text);
        memmove(text, end + 1, length + 1);
        puts("set");
        fflush(stdout);
    }
    return length < sizeof text - 1;
}

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: line NEAR FAR\n");
        return 2;
    }
    int near = open_end(words[1], "10.99.0.1"), far = open_end(words[2], "10.99.0.2");
    struct direction ways[2] = {{.from = near, .to = far}, {.from = far, .to = near}};
    for (int each = 0; each < 2; each++)
        if (!(ways[each].ring = calloc(PACKETS, sizeof *ways[each].ring))) fail("memory");
    puts("up");
    fflush(stdout);
    for (;;) {
        int64_t next = -1;
        for (int each = 0; each < 2; each++) {
            int64_t due = deliver(&ways[each]);
            if (due >= 0 && (next < 0 || due < next)) next = due;
        }
        struct pollfd polled[3] = {{.fd = near, .events = POLLIN}, {.fd = far, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
        int64_t left = next < 0 ? 1000000000 : next - now();
        if (left < 0) left = 0;
        struct timespec wait = {left / 1000000000, left % 1000000000};
        if (ppoll(polled, 3, &wait, NULL) < 0 && errno != EINTR) fail("ppoll");
        if (polled[2].revents && !change()) return 0;
        for (int each = 0; each < 2; each++)
            if (polled[each].revents) receive(&ways[each]);
    }
}
