#pragma once
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

// For the transfer engine: epoll, eventfd, sockets and two of their options.

// struct epoll_event is packed and holds a union: callers see the mask and one 64-bit token instead.
static inline int xfer_epoll_control(int epoll, int operation, int fd, unsigned int mask, unsigned long long token) {
    struct epoll_event event = {.events = mask, .data = {.u64 = token}};
    return epoll_ctl(epoll, operation, fd, &event);
}

// As above, for what comes back: up to `capacity` (at most 64) masks and tokens.
static inline int xfer_epoll_wait(
    int epoll, unsigned int *masks, unsigned long long *tokens, int capacity, int timeout_ms) {
    struct epoll_event events[64];
    int count = epoll_wait(epoll, events, capacity < 64 ? capacity : 64, timeout_ms);
    for (int i = 0; i < count; i++) {
        masks[i] = events[i].events;
        tokens[i] = events[i].data.u64;
    }
    return count;
}

// The flags are enumerators, which Swift does not let combine.
static inline int xfer_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }
static inline int xfer_eventfd_create(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

// The masks are enumerators (of an enumeration whose values do not fit Swift's import of it).
static const unsigned int xfer_epoll_in = EPOLLIN;
static const unsigned int xfer_epoll_out = EPOLLOUT;
static const unsigned int xfer_epoll_error = EPOLLERR | EPOLLHUP;
static const unsigned int xfer_epoll_edge_triggered = EPOLLET;

// pthread_setname_np is a GNU extension that Swift's Glibc hides, prctl is variadic. At most 15 characters.
static inline void xfer_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

// Glibc's module does not hold TCP_WINDOW_CLAMP.
static inline int xfer_clamp_tcp_window(int socket, int bytes) {
    return setsockopt(socket, IPPROTO_TCP, TCP_WINDOW_CLAMP, &bytes, sizeof bytes);
}

// Glibc's struct tcp_info ends before tcpi_bytes_acked (linux/tcp.h, which cannot be included beside netinet/tcp.h).
static inline int xfer_tcp_acknowledged(int socket, unsigned long long *bytes, unsigned int *milliseconds_ago) {
    struct {
        struct tcp_info known;
        unsigned long long pacing_rate, max_pacing_rate, bytes_acked;
    } info = {0};
    socklen_t size = sizeof info;
    _Static_assert(sizeof(struct tcp_info) == 104, "what follows struct tcp_info has moved");
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || size < sizeof info) return -1;
    *bytes = info.bytes_acked;
    *milliseconds_ago = info.known.tcpi_last_ack_recv;
    return 0;
}

// As above, up to tcpi_rcv_ooopack, which kernels have since 5.4.
static inline int xfer_tcp_losses(int socket, unsigned int *segments, unsigned int *out_of_order) {
    struct {
        struct tcp_info known;
        unsigned long long pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
        unsigned int segs_out, segs_in, notsent_bytes, min_rtt, data_segs_in, data_segs_out;
        unsigned long long delivery_rate, busy_time, rwnd_limited, sndbuf_limited;
        unsigned int delivered, delivered_ce;
        unsigned long long bytes_sent, bytes_retrans;
        unsigned int dsack_dups, reord_seen, rcv_ooopack;
    } info = {0};
    socklen_t size = sizeof info;
    _Static_assert(__builtin_offsetof(__typeof__(info), rcv_ooopack) == 224, "tcpi_rcv_ooopack has moved");
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || size < 228) return -1;
    *segments = info.data_segs_in;
    *out_of_order = info.rcv_ooopack;
    return 0;
}

// SOCK_STREAM and its flags are enumerators: which module Swift finds them in depends on who includes the header first.
static inline int xfer_stream_type(void) { return SOCK_STREAM; }
static inline int xfer_stream_socket(int family) { return socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0); }
