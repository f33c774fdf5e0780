/* A scripted Responses upstream that costs as little as it can, so that what is measured is the
 * gateway in front of it.
 *
 * The model's name tells the turn: `bench-EVENTS-GAP` is a turn of so many events, with GAP
 * milliseconds between the deltas. The four events before the first delta come with it, and the
 * four after the last one come with that. Every event is a chunk of its own, as servers write
 * them; with GAP 0, all that fit are written at once, and so arrive coalesced. Each delta carries
 * the time at which it was made, for the generator to read.
 *
 * One thread, one epoll. Prints its port and serves until it is ended.
 */

#define _GNU_SOURCE
#include "common.h"
#include "events.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define BURST_BYTES (64 * 1024) /* of one write: what a kernel's send buffer takes at once */
#define REQUEST_BYTES (1 << 20) /* of a request; the generator's have a few thousand */

struct turn {
    char *request; /* what has arrived of an unfinished request, or NULL */
    size_t request_len;
    char *unsent; /* what the kernel did not take, or NULL */
    size_t unsent_len;
    uint64_t due; /* when the next event is to be sent, if `gap` */
    uint64_t gap; /* nanoseconds */
    long next, events; /* equal: no turn is running */
    unsigned serial;   /* makes the response's id */
    int before, after; /* neighbours in the list of paced turns, or -1 */
};

static struct turn turns[MOST_SOCKETS];
static int first_due = -1, last_due = -1; /* paced turns, the earliest first */
static int epoll, timer;
static unsigned serial;

/* ---- sending ---- */

static void watch(int how, int fd, uint32_t what)
{
    struct epoll_event wanted = {.events = what, .data.fd = fd};
    if (epoll_ctl(epoll, how, fd, &wanted) < 0)
        give_up("epoll_ctl");
}

/* Write, and keep what the kernel did not take. False: the other side has left. */
static int put(int fd, const char *bytes, size_t len)
{
    ssize_t taken = write(fd, bytes, len);
    if (taken < 0 && errno != EAGAIN)
        return 0;
    size_t sent = taken < 0 ? 0 : (size_t)taken;
    if (sent < len) {
        turns[fd].unsent_len = len - sent;
        turns[fd].unsent = memcpy(malloc(len - sent), bytes + sent, len - sent);
        watch(EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLOUT);
    }
    return 1;
}

/* Until which event the turn may go on now: all, or with the next delta what belongs to it. */
static long until(const struct turn *t)
{
    if (!t->gap)
        return t->events;
    long through = t->next < EDGE_EVENTS ? EDGE_EVENTS + 1 : t->next + 1;
    return through >= t->events - EDGE_EVENTS ? t->events : through;
}

/* Send what is due, a burst at most at a time, for as long as the kernel takes it. */
static int send_due(int fd)
{
    static char burst[BURST_BYTES + EVENT_BYTES];
    struct turn *t = &turns[fd];
    long stop = until(t);
    while (t->next < stop && !t->unsent) {
        size_t len = 0;
        if (t->next == 0)
            len = (size_t)sprintf(burst, "%s", head);
        while (t->next < stop && len < BURST_BYTES)
            len += make_event(burst + len, t->next++, t->events, t->serial);
        if (t->next == t->events)
            len += (size_t)sprintf(burst + len, "0\r\n\r\n");
        if (!put(fd, burst, len))
            return 0;
    }
    return 1;
}

static int send_unsent(int fd)
{
    struct turn *t = &turns[fd];
    char *bytes = t->unsent;
    t->unsent = NULL;
    watch(EPOLL_CTL_MOD, fd, EPOLLIN);
    int here = put(fd, bytes, t->unsent_len);
    free(bytes);
    return here && (t->unsent || t->gap || send_due(fd));
}

/* ---- pacing: a list in order of time; a new one is nearly always the latest ---- */

static void unlist(int fd)
{
    struct turn *t = &turns[fd];
    *(t->before < 0 ? &first_due : &turns[t->before].after) = t->after;
    *(t->after < 0 ? &last_due : &turns[t->after].before) = t->before;
}

static void list(int fd)
{
    struct turn *t = &turns[fd];
    t->before = last_due;
    while (t->before >= 0 && turns[t->before].due > t->due)
        t->before = turns[t->before].before;
    t->after = t->before < 0 ? first_due : turns[t->before].after;
    *(t->before < 0 ? &first_due : &turns[t->before].after) = fd;
    *(t->after < 0 ? &last_due : &turns[t->after].before) = fd;
}

static int paced(const struct turn *t)
{
    return t->gap && t->next < t->events;
}

static void set_timer(void)
{
    uint64_t due = first_due < 0 ? 0 : turns[first_due].due;
    struct itimerspec when = {.it_value = {(time_t)(due / 1000000000u), (long)(due % 1000000000u)}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void leave(int fd)
{
    struct turn *t = &turns[fd];
    if (paced(t))
        unlist(fd);
    free(t->request);
    free(t->unsent);
    *t = (struct turn){0};
    close(fd);
}

/* Whoever does not take an event in time is waited for, and gets the next one a gap later. */
static void send_paced(void)
{
    uint64_t now = now_ns();
    while (first_due >= 0 && turns[first_due].due <= now) {
        int fd = first_due;
        struct turn *t = &turns[fd];
        unlist(fd);
        int here = t->unsent || send_due(fd);
        t->due += t->gap;
        if (paced(t))
            list(fd);
        if (!here)
            leave(fd);
    }
}

/* ---- requests ---- */

/* Bytes of the body, by its Content-Length; -1: chunked, which is not read here. */
static long body_bytes(const char *request, size_t head_len)
{
    for (const char *line = request; line < request + head_len;) {
        if (!strncasecmp(line, "content-length:", 15))
            return atol(line + 15);
        if (!strncasecmp(line, "transfer-encoding:", 18))
            return -1;
        line = (const char *)memchr(line, '\n', (size_t)(request + head_len - line)) + 1;
    }
    return 0;
}

/* What routers ask before they trust an upstream: the models, its health. */
static int answer_plainly(int fd)
{
    char answer[512];
    int len = snprintf(answer, sizeof answer,
                       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                       "Content-Length: %zu\r\n\r\n%s", sizeof models - 1, models);
    return put(fd, answer, (size_t)len);
}

static int begin(int fd, const char *body, size_t len)
{
    struct turn *t = &turns[fd];
    const char *name = memmem(body, len, "bench-", 6);
    long events, gap;
    if (!name || sscanf(name, "bench-%ld-%ld", &events, &gap) != 2)
        return 0;
    if (events < LEAST_EVENTS || t->next < t->events)
        return 0;
    t->events = events;
    t->next = 0;
    t->gap = (uint64_t)gap * 1000000u;
    t->serial = ++serial;
    int here = send_due(fd);
    t->due = now_ns() + t->gap;
    if (paced(t))
        list(fd);
    return here;
}

/* Take one request if it is whole. False: it is none, or the other side has left. */
static int take(int fd)
{
    struct turn *t = &turns[fd];
    const char *end = memmem(t->request, t->request_len, "\r\n\r\n", 4);
    if (!end)
        return t->request_len < REQUEST_BYTES;
    size_t head_len = (size_t)(end + 4 - t->request);
    long body = body_bytes(t->request, head_len);
    if (body < 0 || body > REQUEST_BYTES)
        return 0;
    if (t->request_len < head_len + (size_t)body)
        return 1;
    int here = body ? begin(fd, end + 4, (size_t)body) : answer_plainly(fd);
    free(t->request);
    t->request = NULL;
    t->request_len = 0;
    return here;
}

static int receive(int fd)
{
    static char bytes[REQUEST_BYTES];
    ssize_t len = read(fd, bytes, sizeof bytes);
    if (len <= 0)
        return len < 0 && errno == EAGAIN;
    struct turn *t = &turns[fd];
    t->request = realloc(t->request, t->request_len + (size_t)len + 1);
    memcpy(t->request + t->request_len, bytes, (size_t)len);
    t->request_len += (size_t)len;
    t->request[t->request_len] = 0;
    return take(fd);
}

/* ---- sockets ---- */

static void welcome(int listener)
{
    int fd, on = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        if (fd >= MOST_SOCKETS)
            give_up("too many sockets");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(EPOLL_CTL_ADD, fd, EPOLLIN);
    }
    if (errno != EAGAIN && errno != ECONNABORTED)
        give_up("accept");
}

static int listening(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (bind(fd, (struct sockaddr *)&here, size) < 0 || listen(fd, 16384) < 0)
        give_up("listen");
    getsockname(fd, (struct sockaddr *)&here, &size);
    printf("%d\n", ntohs(here.sin_port));
    fflush(stdout);
    return fd;
}

static void serve(int fd, uint32_t what)
{
    int here = 1;
    if (what & EPOLLOUT)
        here = send_unsent(fd);
    if (here && what & (EPOLLIN | EPOLLHUP | EPOLLERR))
        here = receive(fd);
    if (!here)
        leave(fd);
}

int main(void)
{
    static struct epoll_event happened[1024];
    epoll = epoll_create1(0);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    int listener = listening();
    watch(EPOLL_CTL_ADD, listener, EPOLLIN);
    watch(EPOLL_CTL_ADD, timer, EPOLLIN);
    for (;;) {
        set_timer();
        int count = epoll_wait(epoll, happened, 1024, -1);
        for (int i = 0; i < count; i++) {
            int fd = happened[i].data.fd;
            if (fd == listener)
                welcome(listener);
            else if (fd != timer)
                serve(fd, happened[i].events);
        }
        send_paced();
    }
}
