text {"type":"codex.rate_limits","attempt":1,"usage":{"input_tokens":10,"output_tokens":0,"total_tokens":10}}
text {"type":"error","status":502,"error":{"message":"The upstream's stream broke before its end; see `retryable` before sending it again.","type":"server_error","param":null,"code":"stream_read_error","retryable":false,"retry_after":null},"request_id":"req_000000000000000000000000"}
