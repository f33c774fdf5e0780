ping
text {"type":"error","status":504,"error":{"message":"The upstream did not begin to answer in time and may still be working; send it again only if it may run twice.","type":"server_error","param":null,"code":"first_event_timeout","retryable":false,"retry_after":null},"request_id":"req_000000000000000000000000"}
