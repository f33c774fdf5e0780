text {"type":"keepalive","attempt":1}
text {"type":"response.failed","sequence_number":0,"attempt":1,"response":{"id":"resp_1","object":"response","created_at":1796000000,"status":"failed","model":"m","error":{"type":"invalid_request_error","code":"invalid_prompt","message":"Said by the upstream.","param":null},"usage":null}}
