text {"type":"response.created","sequence_number":0,"attempt":1,"response":{"id":"resp_1","object":"response","created_at":1796000000,"status":"in_progress","model":"m","usage":null}}
text {"type":"response.output_text.delta","sequence_number":1,"attempt":1,"delta":"----"}
text {"type":"keepalive","attempt":1}
text {"type":"response.failed","sequence_number":3,"attempt":1,"response":{"id":"resp_1","object":"response","created_at":1796000000,"status":"failed","model":"m","error":{"type":"invalid_request_error","code":"server_error","message":"Said by the upstream.","param":null},"usage":null}}
