text {"type":"response.created","sequence_number":0,"attempt":2,"response":{"id":"resp_2","object":"response","created_at":1796000000,"status":"in_progress","model":"m","usage":null}}
text {"type":"response.output_text.delta","sequence_number":1,"attempt":2,"delta":"----"}
text {"type":"response.completed","sequence_number":2,"attempt":2,"response":{"id":"resp_2","object":"response","created_at":1796000000,"status":"completed","model":"m","usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}}
