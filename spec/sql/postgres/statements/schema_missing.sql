-- schema_missing: what of version 1 is not there, or not usable: columns as table.column, indexes by name.
SELECT w.relation || '.' || c.name
FROM (VALUES
    ('idem_record', '{fence,position,created_at,updated_at,expires_at,lease_until,redrive_count,retry_count,hold_count,attempts,state,scope,key,owner,fingerprint,result}'::text[]),
    ('msg_retry', '{id,next_retry_time,claimed_until,created_at,source_offset,source_partition,redrive_count,retry_count,hold_count,publications,scope,idempotency_key,source_topic,status,action,token,lane_topic,lane_key,msg_id,event_type,biz_key,reason,topic,headers,message_key,payload,kind}'),
    ('idem_lane', '{since,scope,topic,biz_key,head_key}'),
    ('dead_letter', '{id,created_at,redriven_at,source_offset,source_partition,redrive_count,retry_count,hold_count,scope,idempotency_key,event_type,biz_key,event_id,source_topic,outcome,reason,topic,headers,message_key,payload}'),
    ('idem_operation', '{id,begun_at,ended_at,changed,operator,command,reason,target}'),
    ('idem_audit', '{hour,count,scope,event_type,outcome,action,layer}'),
    ('outbox', '{id,created_at,next_at,claimed_until,attempts,failed,topic,token,last_error,headers,message_key,payload}')
) AS w (relation, columns)
CROSS JOIN unnest(w.columns) AS c (name)
WHERE NOT EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = to_regclass(w.relation) AND a.attname = c.name AND NOT a.attisdropped)
UNION ALL
SELECT 'index ' || w.name
FROM unnest('{idem_record_pkey,msg_retry_pkey,msg_retry_source,msg_retry_due,msg_retry_parked,msg_retry_held,msg_retry_claimed,msg_retry_kind,idem_lane_pkey,dead_letter_pkey,dead_letter_source,dead_letter_waiting,dead_letter_key,dead_letter_created,dead_letter_scope,dead_letter_type,dead_letter_outcome,dead_letter_reason,dead_letter_detail,idem_operation_pkey,idem_audit_pkey,outbox_pkey,outbox_key,outbox_blocking,outbox_waiting,outbox_failed}'::text[]) AS w (name)
WHERE NOT EXISTS (SELECT 1 FROM pg_index x WHERE x.indexrelid = to_regclass(w.name) AND x.indisvalid AND x.indisready)
