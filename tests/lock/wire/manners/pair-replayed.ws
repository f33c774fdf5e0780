text {"type":"response.created","attempt":2,"response":{"id":"resp_2","object":"response","created_at":1796000000.25,"status":"queued","model":"m","usage":null}}
text {"type":"response.output_text.delta","attempt":2,"delta":"----"}
text {"type":"response.completed","attempt":2,"response":{"id":"resp_2","object":"response","created_at":1796000000.25,"status":"completed","model":"m","usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}}
