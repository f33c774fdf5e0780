text {"type":"response.created","sequence_number":0,"attempt":1,"response":{"id":"resp_1","object":"response","created_at":1796000000,"status":"in_progress","model":"m","usage":null}}
text {"type":"response.output_item.added","sequence_number":1,"attempt":1,"delta":""}
text {"type":"response.failed","sequence_number":2,"attempt":1,"response":{"id":"resp_1","object":"response","created_at":1796000000,"status":"failed","model":"m","error":{"type":"invalid_request_error","code":"server_is_overloaded","message":"Said by the upstream.","param":null},"usage":null}}
