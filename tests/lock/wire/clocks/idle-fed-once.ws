text {"type":"response.output_text.delta","sequence_number":0,"attempt":1,"delta":"----"}
ping
ping
ping
ping
ping
ping
ping
ping
ping
ping
text {"type":"response.output_text.delta","sequence_number":1,"attempt":1,"delta":"----"}
ping
ping
ping
ping
ping
ping
ping
ping
ping
ping
ping
ping
ping
ping
ping
text {"type":"error","status":504,"error":{"message":"The upstream fell silent and may still be working; send it again only if it may run twice.","type":"server_error","param":null,"code":"stream_idle_timeout","retryable":false,"retry_after":null},"request_id":"req_000000000000000000000000"}
