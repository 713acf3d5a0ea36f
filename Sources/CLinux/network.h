#pragma once
#include <errno.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// For the network monitor: rtnetlink(7), which Glibc's module does not hold.

// socket(2) and bind(2) with sockaddr_nl. `groups` are RTMGRP_… bits; 0 is a socket for requests only.
static inline int xfer_netlink_socket(unsigned int groups) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    // The kernel always answers; should it not, the thread that waits must not wait for ever.
    struct timeval patience = {.tv_sec = 10};
    if (fd < 0) return -1;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

// The RTMGRP_… bits are macros over casts: links, addresses and routes of both families.
static inline unsigned int xfer_netlink_groups(void) {
    return RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
}

// Asks for all of one kind: RTM_GETLINK, RTM_GETADDR or RTM_GETROUTE.
static inline int xfer_netlink_request_dump(int fd, int type, unsigned int sequence) {
    struct { struct nlmsghdr header; struct rtmsg body; } request = {
        .header = {.nlmsg_len = sizeof request, .nlmsg_type = (unsigned short)type,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP, .nlmsg_seq = sequence},
        // All three bodies begin with the family; AF_UNSPEC is both.
        .body = {.rtm_family = AF_UNSPEC}};
    return send(fd, &request, sizeof request, MSG_NOSIGNAL) == (ssize_t)sizeof request ? 0 : -1;
}

// recvfrom(2) with sockaddr_nl: bytes of a datagram of the kernel's, 0 for anybody else's.
static inline long xfer_netlink_receive(int fd, void *buffer, unsigned long capacity, int waits) {
    struct sockaddr_nl sender = {0};
    socklen_t length = sizeof sender;
    long count = recvfrom(
        fd, buffer, capacity, waits ? 0 : MSG_DONTWAIT, (struct sockaddr *)&sender, &length);
    return count > 0 && sender.nl_pid != 0 ? 0 : count;
}

// connect(2) of a datagram socket sends nothing, but finds the route: writes the source address, 4 or 16 bytes as
// `destination` has; -1 and errno when there is no route.
static inline int xfer_route_source(const unsigned char *destination, int is_ipv6, unsigned char *source) {
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(9)};
    struct sockaddr *address = is_ipv6 ? (struct sockaddr *)&six : (struct sockaddr *)&four;
    socklen_t length = is_ipv6 ? sizeof six : sizeof four;
    if (is_ipv6) memcpy(&six.sin6_addr, destination, 16); else memcpy(&four.sin_addr, destination, 4);
    int fd = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    int result = connect(fd, address, length);
    if (result == 0) result = getsockname(fd, address, &length);
    int error = errno;
    close(fd);
    if (is_ipv6) memcpy(source, &six.sin6_addr, 16); else memcpy(source, &four.sin_addr, 4);
    errno = error;
    return result;
}
