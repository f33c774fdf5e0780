text {"type":"response.created","sequence_number":0,"attempt":1,"response":{"id":"resp_1","object":"response","created_at":1796000000,"status":"in_progress","model":"m","usage":null}}
text {"type":"response.output_text.delta","sequence_number":1,"attempt":1,"delta":"----"}
text {"type":"error","status":500,"error":{"type":"invalid_request_error","code":"server_error","message":"Said by the upstream.","param":null,"attempt":1,"retryable":false,"retry_after":null},"request_id":"req_000000000000000000000000","sequence_number":2}
