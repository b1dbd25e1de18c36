// echo PORT: what a UDP server costs that does nothing but receive and send, with the calls of gslbd's loop: recvmmsg and sendmmsg of up
// to 64 messages, and a recvmmsg that waits when nothing is there. A message goes back with QR set; if its ANCOUNT asks for more bytes than
// it has, the reply is that long.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define MESSAGES 64
#define QUERY_SIZE 4096
#define APART 64 // keeps the starts of the buffers off one cache set

static unsigned char buffers[MESSAGES][QUERY_SIZE + APART];
static struct sockaddr_in6 names[MESSAGES];
static struct iovec in_parts[MESSAGES], out_parts[MESSAGES];
static struct mmsghdr in[MESSAGES], out[MESSAGES];

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int listen_on(int port) {
    int fd = socket(AF_INET, SOCK_DGRAM, 0), yes = 1, room = 4 << 20, omit = IP_PMTUDISC_OMIT;
    if (fd < 0) fail("socket");
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes)) fail("SO_REUSEPORT");
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room)) fail("SO_RCVBUF");
    if (setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &omit, sizeof omit)) fail("IP_MTU_DISCOVER");
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (bind(fd, (struct sockaddr *)&at, sizeof at)) fail("bind");
    return fd;
}

// reply turns message i into its answer in place.
static void reply(int i) {
    unsigned char *b = buffers[i];
    size_t length = in[i].msg_len, wanted = b[6] << 8 | b[7];
    b[2] |= 0x80;
    out_parts[i].iov_len = wanted > length && wanted <= QUERY_SIZE ? wanted : length;
    out[i].msg_hdr.msg_namelen = in[i].msg_hdr.msg_namelen;
    in[i].msg_hdr.msg_namelen = sizeof names[i];
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: echo PORT\n");
        return 2;
    }
    int fd = listen_on(atoi(argv[1]));
    for (int i = 0; i < MESSAGES; i++) {
        in_parts[i] = (struct iovec){buffers[i], QUERY_SIZE};
        out_parts[i] = (struct iovec){buffers[i], 0};
        in[i].msg_hdr = (struct msghdr){.msg_name = &names[i], .msg_namelen = sizeof names[i], .msg_iov = &in_parts[i], .msg_iovlen = 1};
        out[i].msg_hdr = (struct msghdr){.msg_name = &names[i], .msg_iov = &out_parts[i], .msg_iovlen = 1};
    }
    for (;;) {
        int n = recvmmsg(fd, in, MESSAGES, MSG_DONTWAIT, NULL);
        if (n < 0 && errno == EAGAIN) n = recvmmsg(fd, in, MESSAGES, MSG_WAITFORONE, NULL);
        if (n < 0) {
            if (errno != EINTR) fail("recvmmsg");
            continue;
        }
        for (int i = 0; i < n; i++) reply(i);
        for (int at = 0; at < n;) {
            int sent = sendmmsg(fd, out + at, n - at, MSG_DONTWAIT);
            at += sent > 0 ? sent : 1; // what the kernel refuses is given up
        }
    }
}
