text {"type":"response.created","sequence_number":0,"attempt":1,"response":{"id":"resp_1","object":"response","created_at":1796000000,"status":"in_progress","model":"m","usage":null}}
