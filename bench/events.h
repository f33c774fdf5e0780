/* The events of a scripted turn, with the members and the sizes that real ones have: a response of
 * about 700 bytes in the first events and the last, a delta of about 250.
 */

#ifndef BENCH_EVENTS_H
#define BENCH_EVENTS_H

#include "common.h"

#define EVENT_BYTES 2048 /* of the longest event with its chunk's frame, rounded up */
#define EDGE_EVENTS 4    /* before the first delta, and after the last one */
#define LEAST_EVENTS (2 * EDGE_EVENTS + 1)

#define RESPONSE(status, output, usage)                                                            \
    "{\"id\":\"resp_%032u\",\"object\":\"response\",\"created_at\":1790000000,"                    \
    "\"status\":\"" status                                                                         \
    "\",\"background\":false,\"error\":null,\"incomplete_details\":null,\"instructions\":null,"    \
    "\"max_output_tokens\":null,\"max_tool_calls\":null,\"model\":\"bench-1.0-2026-10-01\","       \
    "\"output\":[" output "],\"parallel_tool_calls\":true,\"previous_response_id\":null,"          \
    "\"prompt_cache_key\":null,\"reasoning\":{\"effort\":null,\"summary\":null},"                  \
    "\"safety_identifier\":null,\"service_tier\":\"default\",\"store\":false,\"temperature\":1.0," \
    "\"text\":{\"format\":{\"type\":\"text\"},\"verbosity\":\"medium\"},\"tool_choice\":\"auto\"," \
    "\"tools\":[],\"top_logprobs\":0,\"top_p\":1.0,\"truncation\":\"disabled\",\"usage\":" usage   \
    ",\"user\":null,\"metadata\":{}}"
#define USAGE                                                                                      \
    "{\"input_tokens\":211,\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":87,"   \
    "\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":298}"
#define TEXT "The parcel left the depot on Tuesday and waits to be collected at the counter."
#define PART(text)                                                                                 \
    "{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"" text "\"}"
#define ITEM_ID "msg_68f1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f607"
#define ITEM(status, content)                                                                      \
    "{\"id\":\"" ITEM_ID "\",\"type\":\"message\",\"status\":\"" status "\",\"content\":["         \
    content "],\"role\":\"assistant\"}"
#define PLACE "\"output_index\":0,\"content_index\":0,\"item_id\":\"" ITEM_ID "\","
#define EVENT(type, rest)                                                                          \
    "event: " type "\ndata: {\"type\":\"" type "\",\"sequence_number\":%ld," rest "}\n\n"

/* Formats: the event's number, then the response's serial number. */
static const char *const opening[EDGE_EVENTS] = {
    EVENT("response.created", "\"response\":" RESPONSE("in_progress", "", "null")),
    EVENT("response.in_progress", "\"response\":" RESPONSE("in_progress", "", "null")),
    EVENT("response.output_item.added", "\"output_index\":0,\"item\":" ITEM("in_progress", "")),
    EVENT("response.content_part.added", PLACE "\"part\":" PART("")),
};
static const char *const closing[EDGE_EVENTS] = {
    EVENT("response.output_text.done", PLACE "\"text\":\"" TEXT "\",\"logprobs\":[]"),
    EVENT("response.content_part.done", PLACE "\"part\":" PART(TEXT)),
    EVENT("response.output_item.done",
          "\"output_index\":0,\"item\":" ITEM("completed", PART(TEXT))),
    EVENT("response.completed",
          "\"response\":" RESPONSE("completed", ITEM("completed", PART(TEXT)), USAGE)),
};
/* The format of a delta: its number, the mark, the time. */
static const char delta[] = EVENT(
    "response.output_text.delta",
    PLACE "\"delta\":\"%c%019llu\",\"logprobs\":[],\"obfuscation\":\"qZ5\"");

static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
                           "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";
static const char models[] =
    "{\"object\":\"list\",\"data\":[{\"id\":\"bench-10-0\",\"object\":\"model\","
    "\"created\":1790000000,\"owned_by\":\"bench\"}]}";

/* Event number n of a turn of so many events, as a chunk; its bytes. */
static size_t make_event(char *to, long n, long events, unsigned serial)
{
    char text[EVENT_BYTES];
    int len;
    if (n < EDGE_EVENTS)
        len = snprintf(text, sizeof text, opening[n], n, serial);
    else if (n < events - EDGE_EVENTS)
        len = snprintf(text, sizeof text, delta, n, STAMP_MARK, (unsigned long long)now_ns());
    else
        len = snprintf(text, sizeof text, closing[n - events + EDGE_EVENTS], n, serial);
    return (size_t)snprintf(to, EVENT_BYTES, "%x\r\n%s\r\n", (unsigned)len, text);
}

#endif
