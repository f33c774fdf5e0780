/* Cuts what a gateway sends into events: server-sent ones in a chunked HTTP/1.1 body, or the text
 * messages of a WebSocket. No socket and no clock; bytes may come in any pieces.
 */

#ifndef BENCH_READER_H
#define BENCH_READER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum state { HEAD, CHUNK_SIZE, CHUNK, TRAILER, FRAME, PAYLOAD };

#define LONGEST_FRAME_HEAD 10
#define OPCODE_CLOSE 8 /* this and all above are control frames */

struct reader {
    enum state state;
    int status;       /* of the last head */
    uint64_t left;    /* bytes of the chunk or of the payload that are to come */
    size_t line_len;  /* of the line with a chunk's size, or of a trailer, so far */
    int extended;     /* this line has come to its extensions */
    char *kept;       /* the beginning of a head, a line or a message */
    size_t kept_len, kept_room;
    unsigned char frame[LONGEST_FRAME_HEAD];
    size_t frame_len;
};

/* Whoever reads says what is done with an event, and with the end of a head or of a body. */
static void on_event(struct reader *r, const char *json, size_t len);
static void on_head(struct reader *r);
static void on_end(struct reader *r);

static void keep(struct reader *r, const char *at, size_t len)
{
    if (r->kept_len + len > r->kept_room) {
        r->kept_room = 2 * (r->kept_len + len);
        r->kept = realloc(r->kept, r->kept_room);
    }
    memcpy(r->kept + r->kept_len, at, len);
    r->kept_len += len;
}

static void on_line(struct reader *r, const char *line, size_t len)
{
    if (len > 6 && !memcmp(line, "data: {", 7))
        on_event(r, line + 6, len - 6);
}

/* Bytes of a body: whole lines are looked at where they lie, only the last one is kept. */
static void read_text(struct reader *r, const char *at, size_t len)
{
    const char *stop = at + len, *end;
    while (at < stop && (end = memchr(at, '\n', (size_t)(stop - at)))) {
        if (r->kept_len) {
            keep(r, at, (size_t)(end - at));
            on_line(r, r->kept, r->kept_len);
            r->kept_len = 0;
        } else {
            on_line(r, at, (size_t)(end - at));
        }
        at = end + 1;
    }
    if (at < stop)
        keep(r, at, (size_t)(stop - at));
}

/* Up to the empty line. A 200 must be chunked, a 101 begins frames; all else is for on_head. */
static size_t read_head(struct reader *r, const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        keep(r, at + i, 1);
        if (r->kept_len < 4 || memcmp(r->kept + r->kept_len - 4, "\r\n\r\n", 4))
            continue;
        r->kept[r->kept_len - 1] = 0;
        r->status = r->kept_len > 12 ? atoi(r->kept + 9) : 0;
        r->state = r->status == 101 ? FRAME : CHUNK_SIZE;
        if (r->status == 200 && !strcasestr(r->kept, "transfer-encoding: chunked"))
            r->status = 0;
        r->kept_len = r->line_len = r->left = 0;
        on_head(r);
        return i + 1;
    }
    return len;
}

/* One byte of the line with a chunk's size; the empty line behind the chunk before is skipped. */
static void read_size(struct reader *r, char byte)
{
    static const char digits[] = "0123456789abcdef";
    if (byte == '\n' && r->line_len) {
        r->state = r->left ? CHUNK : TRAILER;
        r->line_len = r->extended = 0;
    } else if (byte != '\n' && byte != '\r') {
        const char *digit = strchr(digits, byte | 0x20);
        r->extended |= !digit;
        if (!r->extended)
            r->left = 16 * r->left + (uint64_t)(digit - digits);
        r->line_len++;
    }
}

static void read_trailer(struct reader *r, char byte)
{
    if (byte != '\n') {
        r->line_len += byte != '\r';
    } else if (r->line_len) {
        r->line_len = 0;
    } else {
        r->state = HEAD;
        r->kept_len = 0;
        on_end(r);
    }
}

static size_t read_chunk(struct reader *r, const char *at, size_t len)
{
    size_t take = len < r->left ? len : (size_t)r->left;
    read_text(r, at, take);
    r->left -= take;
    if (!r->left)
        r->state = CHUNK_SIZE;
    return take;
}

/* One byte of a frame's head: the length is in the second, or in the 2 or 8 that follow. */
static void read_frame(struct reader *r, char byte)
{
    r->frame[r->frame_len++] = (unsigned char)byte;
    if (r->frame_len < 2)
        return;
    size_t more = r->frame[1] == 127 ? 8 : r->frame[1] == 126 ? 2 : 0;
    if (r->frame_len < 2 + more)
        return;
    r->left = more ? 0 : r->frame[1];
    for (size_t i = 0; i < more; i++)
        r->left = r->left << 8 | r->frame[2 + i];
    r->frame_len = 0;
    r->state = r->left ? PAYLOAD : FRAME;
}

static int is_control(const struct reader *r)
{
    return (r->frame[0] & 15) >= OPCODE_CLOSE;
}

static size_t read_payload(struct reader *r, const char *at, size_t len)
{
    size_t take = len < r->left ? len : (size_t)r->left;
    int last = take == r->left && r->frame[0] & 0x80;
    if (!is_control(r) && last && !r->kept_len) {
        on_event(r, at, take);
    } else if (!is_control(r)) {
        keep(r, at, take);
        if (last) {
            on_event(r, r->kept, r->kept_len);
            r->kept_len = 0;
        }
    }
    r->left -= take;
    if (!r->left)
        r->state = FRAME;
    return take;
}

static void read_bytes(struct reader *r, const char *at, size_t len)
{
    while (len) {
        size_t taken = 1;
        switch (r->state) {
        case HEAD: taken = read_head(r, at, len); break;
        case CHUNK_SIZE: read_size(r, *at); break;
        case CHUNK: taken = read_chunk(r, at, len); break;
        case TRAILER: read_trailer(r, *at); break;
        case FRAME: read_frame(r, *at); break;
        case PAYLOAD: taken = read_payload(r, at, len); break;
        }
        at += taken;
        len -= taken;
    }
}

#endif
