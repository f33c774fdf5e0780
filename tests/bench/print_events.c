/* Reads what a gateway sent from standard input, in pieces of so many bytes, and prints what the
 * generator's reader makes of it: a line for each head, event and end.
 */

#define _GNU_SOURCE
#include "reader.h"

#include <stdio.h>

static void on_head(struct reader *r)
{
    printf("head %d\n", r->status);
}

static void on_event(struct reader *r, const char *json, size_t len)
{
    (void)r;
    printf("event %.*s\n", (int)len, json);
}

static void on_end(struct reader *r)
{
    (void)r;
    printf("end\n");
}

int main(int argc, char **argv)
{
    static char bytes[1 << 20];
    size_t len = fread(bytes, 1, sizeof bytes, stdin);
    size_t piece = argc > 1 ? (size_t)atol(argv[1]) : len;
    struct reader reader = {0};
    for (size_t at = 0; at < len; at += piece)
        read_bytes(&reader, bytes + at, len - at < piece ? len - at : piece);
    return 0;
}
