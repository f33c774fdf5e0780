text {"type":"keepalive","attempt":1}
text {"type":"error","status":502,"error":{"message":"The upstream's stream broke before its end; see `retryable` before sending it again.","type":"server_error","param":null,"code":"stream_read_error","retryable":true,"retry_after":null},"request_id":"req_000000000000000000000000"}
