ping
ping
ping
text {"type":"response.completed","sequence_number":0,"attempt":2,"response":{"id":"resp_2","object":"response","created_at":1796000000,"status":"completed","model":"m","usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}}
