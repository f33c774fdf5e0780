/* A load generator that costs as little as it can: so many connections, on each of them one turn
 * after the other, over HTTP or over a WebSocket.
 *
 * It opens its connections one by one, and waits until each has been served once. Then it warms
 * up, says `begin`, counts for so many seconds, and says what it counted: a line of JSON. A
 * connection that fails stays closed, and is counted. Times are microseconds.
 *
 * `first`: from the request to the first delta. `latency`: from the making of a delta at the
 * upstream, whose time it carries, to its arrival here.
 */

#define _GNU_SOURCE
#include "common.h"
#include "reader.h"
#include "request.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

#define READ_BYTES (256 * 1024) /* at once; a bulk turn has 150 KiB */
#define SHOWN_BYTES 300         /* of the first failure */
#define PATIENCE_SECONDS 10.0   /* for the last connection to be served, when all are opened */

struct client {
    struct reader reader; /* the first member, so that what it calls can find the client */
    int fd;
    int upgraded;    /* a WebSocket: the handshake is done */
    int answering;   /* a delta of this turn has come */
    int terminal;    /* this turn's response.completed has come */
    long turns_left; /* below zero: no end */
    int settled;
    uint64_t asked;
};

struct samples {
    uint64_t *ns;
    size_t count, room;
};

static struct {
    const char *key, *model;
    int port, connections, websocket;
    long turns;
    double ramp, warm, seconds;
} plan = {.key = "", .model = "bench-10-0", .connections = 1, .turns = -1, .seconds = 3};

static struct client clients[MOST_SOCKETS];
static struct samples first, latency;
static char request[REQUEST_BYTES], handshake[REQUEST_BYTES], failure[SHOWN_BYTES + 1];
static size_t request_len, handshake_len;
static uint64_t turns, events, arrived;
static long settled, failed;
static int epoll, opened, measuring;

/* ---- connections ---- */

/* The first turn is served, or will never be. */
static void settle(struct client *c)
{
    settled += !c->settled;
    c->settled = 1;
}

static void fail(struct client *c, const char *why, size_t len)
{
    if (c->fd < 0)
        return;
    if (!failure[0])
        snprintf(failure, sizeof failure, "%.*s", (int)len, why);
    failed++;
    settle(c);
    close(c->fd);
    c->fd = -1;
}

static void say(struct client *c, const char *bytes, size_t len)
{
    if (write(c->fd, bytes, len) != (ssize_t)len)
        fail(c, "a request was not taken whole", SHOWN_BYTES);
}

static void ask(struct client *c)
{
    if (!c->turns_left)
        return;
    c->turns_left -= c->turns_left > 0;
    c->answering = c->terminal = 0;
    c->asked = now_ns();
    say(c, request, request_len);
}

/* Loopback connects at once, or the subject's backlog is full, which may wait. */
static void open_one(void)
{
    struct client *c = &clients[opened];
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons((uint16_t)plan.port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event added = {.events = EPOLLIN, .data.u32 = (uint32_t)opened++};
    int on = 1;
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    c->turns_left = plan.turns;
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&there, sizeof there) < 0)
        give_up("connect");
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &added);
    if (plan.websocket)
        say(c, handshake, handshake_len);
    else
        ask(c);
}

static void receive(struct client *c)
{
    static char bytes[READ_BYTES];
    ssize_t len = read(c->fd, bytes, sizeof bytes);
    if (len < 0 && errno == EAGAIN)
        return;
    if (len <= 0) {
        fail(c, "the connection was closed", SHOWN_BYTES);
        return;
    }
    arrived = now_ns();
    int status = c->reader.status;
    read_bytes(&c->reader, bytes, (size_t)len);
    int wanted = plan.websocket ? 101 : 200;
    if (c->fd >= 0 && c->reader.status != wanted && c->reader.status != status)
        fail(c, bytes, (size_t)len);
}

/* ---- what is counted ---- */

static void sample(struct samples *s, uint64_t ns)
{
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 1 << 16;
        s->ns = realloc(s->ns, s->room * sizeof *s->ns);
    }
    s->ns[s->count++] = ns;
}

static void on_delta(struct client *c, const char *stamp)
{
    uint64_t made = strtoull(stamp, NULL, 10);
    if (measuring)
        sample(&latency, arrived - made);
    if (measuring && !c->answering)
        sample(&first, arrived - c->asked);
    c->answering = 1;
    if (plan.turns < 0)
        settle(c);
}

static void on_event(struct reader *r, const char *json, size_t len)
{
    struct client *c = (struct client *)r;
    const char *mark = memchr(json, STAMP_MARK, len);
    events += (uint64_t)measuring;
    if (mark && mark + STAMP_DIGITS < json + len)
        on_delta(c, mark + 1);
    else if (memmem(json, len, "\"response.completed\"", 20))
        c->terminal = 1;
    if (plan.websocket && c->terminal)
        on_end(r);
}

static void on_end(struct reader *r)
{
    struct client *c = (struct client *)r;
    if (!c->terminal) {
        fail(c, "a turn ended without response.completed", SHOWN_BYTES);
        return;
    }
    turns += (uint64_t)measuring;
    if (plan.turns >= 0)
        settle(c);
    ask(c);
}

static void on_head(struct reader *r)
{
    struct client *c = (struct client *)r;
    if (r->status == 101 && plan.websocket)
        ask(c);
}

/* ---- the run ---- */

static int ascending(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

static void tell_samples(const char *name, struct samples *s)
{
    if (s->count)
        qsort(s->ns, s->count, sizeof *s->ns, ascending);
    double p50 = s->count ? (double)s->ns[s->count / 2] / 1e3 : 0;
    double p99 = s->count ? (double)s->ns[s->count * 99 / 100] / 1e3 : 0;
    printf(",\"%s\":{\"count\":%zu,\"p50\":%.1f,\"p99\":%.1f}", name, s->count, p50, p99);
}

/* One wait and all that happened in it; while connections are opened, a millisecond at most. */
static void turn_the_wheel(double until)
{
    static struct epoll_event happened[1024];
    double left = until - (double)now_ns() / 1e9;
    int wait = opened < plan.connections ? 1 : left > 0 ? (int)(left * 1e3) + 1 : 0;
    int count = epoll_wait(epoll, happened, 1024, wait);
    for (int i = 0; i < count; i++) {
        struct client *c = &clients[happened[i].data.u32];
        if (c->fd >= 0)
            receive(c);
    }
}

static void run_for(double seconds)
{
    double until = (double)now_ns() / 1e9 + seconds;
    while ((double)now_ns() / 1e9 < until)
        turn_the_wheel(until);
}

static void open_all(void)
{
    double began = (double)now_ns() / 1e9, until = began + plan.ramp + PATIENCE_SECONDS;
    while (settled < plan.connections) {
        double now = (double)now_ns() / 1e9;
        double share = plan.ramp > 0 ? (now - began) / plan.ramp : 1;
        while (opened < plan.connections && opened <= share * plan.connections)
            open_one();
        if (now > until) {
            fprintf(stderr, "load: %ld of %d connections were served in time\n", settled,
                    plan.connections);
            exit(1);
        }
        turn_the_wheel(until);
    }
}

static void read_plan(int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "p:k:m:c:t:r:w:s:W")) != -1) {
        switch (option) {
        case 'p': plan.port = atoi(optarg); break;
        case 'k': plan.key = optarg; break;
        case 'm': plan.model = optarg; break;
        case 'c': plan.connections = atoi(optarg); break;
        case 't': plan.turns = atol(optarg); break;
        case 'r': plan.ramp = atof(optarg); break;
        case 'w': plan.warm = atof(optarg); break;
        case 's': plan.seconds = atof(optarg); break;
        case 'W': plan.websocket = 1; break;
        default:
            fprintf(stderr, "usage: load -p PORT [-W] [-k KEY] [-m MODEL] [-c CONNECTIONS] "
                            "[-t TURNS] [-r RAMP] [-w WARM] [-s SECONDS]\n");
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    char body[REQUEST_BYTES / 2];
    read_plan(argc, argv);
    make_body(body, plan.websocket, plan.model);
    request_len = plan.websocket ? make_frame(request, body)
                                 : make_http(request, plan.port, plan.key, body);
    handshake_len = make_handshake(handshake, plan.port, plan.key);
    epoll = epoll_create1(0);
    open_all();
    run_for(plan.warm);
    printf("begin\n");
    fflush(stdout);
    uint64_t began = now_ns();
    measuring = 1;
    run_for(plan.seconds);
    measuring = 0;
    double seconds = (double)(now_ns() - began) / 1e9;
    printf("{\"seconds\":%.6f,\"turns\":%llu,\"events\":%llu,\"failed\":%ld", seconds,
           (unsigned long long)turns, (unsigned long long)events, failed);
    tell_samples("first", &first);
    tell_samples("latency", &latency);
    printf("}\n");
    if (failure[0])
        fprintf(stderr, "load: the first failure: %s\n", failure);
    return 0;
}
