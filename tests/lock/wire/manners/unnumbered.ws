text {"type":"response.created","attempt":1,"response":{"id":"resp_1","object":"response","created_at":1796000000,"status":"in_progress","model":"m","usage":null}}
text {"type":"response.output_text.delta","attempt":1,"delta":"----"}
text {"type":"error","status":502,"error":{"message":"The upstream's stream broke before its end; see `retryable` before sending it again.","type":"server_error","param":null,"code":"stream_read_error","retryable":false,"retry_after":null},"request_id":"req_000000000000000000000000"}
