/* What the generator sends: one request, always the same, as HTTP or as a WebSocket's frame. */

#ifndef BENCH_REQUEST_H
#define BENCH_REQUEST_H

#include <stdio.h>
#include <string.h>

#define REQUEST_BYTES 4096
#define INPUT_BYTES 1000 /* of the prompt */

static void make_body(char *to, int websocket, const char *model)
{
    char input[INPUT_BYTES + 1];
    for (int i = 0; i < INPUT_BYTES; i++)
        input[i] = "Where is my parcel? "[i % 20];
    input[INPUT_BYTES] = 0;
    sprintf(
        to,
        "{%s\"model\":\"%s\",\"store\":false,\"instructions\":\"Be brief.\",\"input\":[{\"type\":"
        "\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"%s\"}]}]}",
        websocket ? "\"type\":\"response.create\"," : "\"stream\":true,", model, input);
}

static size_t make_http(char *to, int port, const char *key, const char *body)
{
    return (size_t)sprintf(
        to,
        "POST /v1/responses HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
        "Content-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: %zu\r\n"
        "\r\n%s", port, key, strlen(body), body);
}

/* A client's frame, masked as the standard demands; one mask does for all. */
static size_t make_frame(char *to, const char *body)
{
    size_t len = strlen(body);
    static const unsigned char mask[4] = {0x6c, 0x61, 0x74, 0x63};
    unsigned char head[8] = {0x81, 0x80 | 126, (unsigned char)(len >> 8), (unsigned char)len};
    memcpy(head + 4, mask, 4);
    memcpy(to, head, 8);
    for (size_t i = 0; i < len; i++)
        to[8 + i] = (char)(body[i] ^ mask[i % 4]);
    return 8 + len;
}

static size_t make_handshake(char *to, int port, const char *key)
{
    return (size_t)sprintf(
        to,
        "GET /v1/responses HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: bGF0Y2h3YXkgbWVhc3VyZQ==\r\n\r\n", port, key);
}

#endif
