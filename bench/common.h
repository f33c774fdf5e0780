/* What the scripted upstream and the load generator share: a clock, and how they give up. */

#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST_SOCKETS 65536 /* the highest file descriptor, and one more; tables are indexed by it */
#define STAMP_DIGITS 19    /* of nanoseconds; enough for 292 years since the machine's start */
#define STAMP_MARK '@'     /* stands before a stamp, and nowhere else in an event */

/* The same clock in both processes, so that the difference of two readings is a latency. */
static inline uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

_Noreturn static inline void give_up(const char *what)
{
    perror(what);
    exit(1);
}

#endif
