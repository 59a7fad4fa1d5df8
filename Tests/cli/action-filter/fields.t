#!/bin/sh
# action-filter -o FIELD,...: some members of each action.
. "${0%/*}/../lib.sh"
cd "$tmp" || exit 1

cat >day <<'END'
{"id":1,"created_at":"2026-03-01T10:00:00.000Z","guild_id":"1","channel_id":"10","message_id":null,"user_id":"7","kind":"llm_call","content":"a\u0020b","metadata":{"a/b":[1, {"k":"v"}],"n":null},"usd_cost":1.10}
{"event":"action_event","id":"9","data":{"kind":"asr_error","guildId":"2","createdAt":"2026-03-01T11:00:00.000Z","level":"error"}}
{"type":"lost","reason":"reset"}
{ "kind" : "x\u0079" , "extra":[1 , 2],"usdCost":null,"k\u0069nd":"last","extra":{"z":1e400},"e\"x":true }
{"event":"activity_snapshot","data":{"actions":[{"id":4,"kind":"b","usd_cost":0},{"id":3,"kind":"a","usdCost":2}]}}
END
fields() {
  t 0 "-o $* succeeds" action-filter -o "$@" day
}
fields id,created_at,kind,usd_cost
out_is '{"id":1,"created_at":"2026-03-01T10:00:00.000Z","kind":"llm_call","usd_cost":1.10}
{"id":null,"created_at":"2026-03-01T11:00:00.000Z","kind":"asr_error","usd_cost":0}
{"id":null,"created_at":null,"kind":"last","usd_cost":0}
{"id":3,"created_at":null,"kind":"a","usd_cost":2}
{"id":4,"created_at":null,"kind":"b","usd_cost":0}' \
  "-o prints both spellings, wrapped and bare ones, and lists"
fields usd_cost,metadata,content -k llm_call
out_is '{"usd_cost":1.10,"metadata":{"a/b":[1, {"k":"v"}],"n":null},"content":"a\u0020b"}' \
  "-o keeps the order asked for, and the bytes of the values"
fields guild_id,channel_id,message_id,user_id,level -n 2
out_is '{"guild_id":"1","channel_id":"10","message_id":null,"user_id":"7","level":null}
{"guild_id":"2","channel_id":null,"message_id":null,"user_id":null,"level":"error"}' \
  "ids and the level are printed"
fields 'extra,e"x,none,kind' -k last
out_is '{"extra":{"z":1e400},"e\"x":true,"none":null,"kind":"last"}' "members have any name, and the last of each counts"
fields /a~1b/1/k,/n,/none,/a~1b -k llm_call
out_is '{"/a~1b/1/k":"v","/n":null,"/none":null,"/a~1b":[1, {"k":"v"}]}' \
  "places in the metadata are printed"
fields kind -k llm_call -a
out_is '{"kind":"llm_call"}
{"type":"lost","reason":"reset"}' "-a passes other records as they are"
fields kind -N
out_is 5 "-N counts all the same"
fields createdAt,created_at -k asr_error
out_is '{"createdAt":"2026-03-01T11:00:00.000Z","created_at":"2026-03-01T11:00:00.000Z"}' \
  "a live name is the member of that name"
if command -v jq >/dev/null; then
  is "$(action-filter -o id,kind,content,usd_cost day | jq -c .)" \
    "$(action-filter -o canonical day | jq -c '{id,kind,content,usd_cost}')" \
    "jq reads what -o prints"
fi

done_testing
