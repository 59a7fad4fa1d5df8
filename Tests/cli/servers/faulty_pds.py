#!/usr/bin/env python3
"""faulty_pds.py LOG: personal data servers of did:web:a.test, one below each path, and each with
a fault of its own: http://127.0.0.1:PORT/FAULT is the address of a profile. Any password is
right. The log gets a line `FAULT METHOD QUERY` per request. What each does is said where it does it.
"""
import base64
import datetime
import hashlib
import json
import struct
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DID = 'did:web:a.test'
TYPE = 'com.example.a'
RECORD = {'$type': TYPE, 'n': 1}
BLOBS = {}
PAGE = {'Content-Type': 'text/html'}


# --- DAG-CBOR, by hand

class Link:
  def __init__(self, cid):
    self.cid = cid


def head(major, value):
  if value < 24:
    return bytes([major << 5 | value])
  for code, form in (24, '>B'), (25, '>H'), (26, '>I'), (27, '>Q'):
    if value < 1 << 8 * struct.calcsize(form):
      return bytes([major << 5 | code]) + struct.pack(form, value)


def cbor(value):
  if value is None or isinstance(value, bool):
    return {None: b'\xf6', True: b'\xf5', False: b'\xf4'}[value]
  if isinstance(value, int):
    return head(0, value) if value >= 0 else head(1, ~value)
  if isinstance(value, bytes):
    return head(2, len(value)) + value
  if isinstance(value, str):
    return head(3, len(value.encode())) + value.encode()
  if isinstance(value, list):
    return head(4, len(value)) + b''.join(map(cbor, value))
  if isinstance(value, Link):
    return b'\xd8\x2a' + cbor(b'\0' + value.cid)
  members = sorted(value.items(), key=lambda member: (len(member[0].encode()), member[0]))
  return head(5, len(value)) + b''.join(cbor(k) + cbor(v) for k, v in members)


def cid(record):
  return b'\x01\x71\x12\x20' + hashlib.sha256(cbor(record)).digest()


def cid_text(record):
  return 'b' + base64.b32encode(cid(record)).decode().lower().rstrip('=')


def row(key):
  return {'uri': f'at://{DID}/{TYPE}/{key}', 'cid': cid_text(RECORD), 'value': RECORD}


# --- events

def event(name, body, op=1):
  message = cbor({'op': op, **({'t': name} if name else {})}) + cbor(body)
  size = len(message)
  if size < 126:
    return bytes([0x82, size]) + message
  code, form = (126, '>H') if size < 1 << 16 else (127, '>Q')
  return bytes([0x82, code]) + struct.pack(form, size) + message


def change(key, **more):
  return {'action': 'create', 'path': f'{TYPE}/{key}', 'cid': Link(cid(RECORD)), **more}


def commit(number, *changes, **more):
  seq = {} if number is None else {'seq': number}
  return event('#commit', {**seq, 'repo': DID, 'ops': list(changes), **more})


def at(number, key, minute):
  """A change at a time."""
  return commit(number, change(key), time=f'2026-11-01T00:{minute:02}:00.000Z')


def number(value):
  return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + number(value >> 7)


def car(*records):
  """A CAR file of records."""
  part = lambda text: number(len(text)) + text
  return (part(cbor({'roots': [Link(cid(RECORD))], 'version': 1}))
          + b''.join(part(cid(record) + cbor(record)) for record in records))


def deep(levels):
  value = 1
  for _ in range(levels):
    value = [value]
  return {'$type': TYPE, 'n': value}


RICH = {'$type': TYPE, 'n': 7, 'link': Link(cid(RECORD)), 'bytes': b'\1\2', 'list': [None, True]}


def written(number, key, record=RECORD, blocks=None, **more):
  """A change with its record, as the reference server tells it."""
  there = {'action': 'create', 'path': f'{TYPE}/{key}', 'cid': Link(cid(record))}
  return event('#commit', {
    'seq': number, 'repo': DID, 'ops': [there], 'rev': rev(number), 'since': rev(number - 1),
    'blocks': car(RECORD, record) if blocks is None else blocks,
    'time': f'2026-11-29T00:00:{number:02}.000Z', **more})


def rev(number):
  """Of the commit of an event, which is made in the second of its number."""
  value = int(datetime.datetime(2026, 11, 29, 0, 0, number, tzinfo=datetime.timezone.utc)
              .timestamp() * 1e6) << 10
  return ''.join('234567abcdefghijklmnopqrstuvwxyz'[value >> 60 - 5 * n & 31] for n in range(13))


BROKEN = ('breaks', 'slow', 'quiet', 'outdated', 'norevs')


def broken(fault, count, query):
  """A line that breaks before its first event; the commits of the events 6 and 7 come then."""
  if count == 1:
    error = {'error': 'ConsumerTooSlow', 'message': 'Stream consumer too slow'}
    return event('', error, op=-1) if fault == 'slow' else b''
  if 'cursor=0' not in query:
    return written(8, 'e8')
  old = event('#info', {'name': 'OutdatedCursor'})
  if fault == 'outdated':
    return old + written(7, 'e7')
  return (old + event('#account', {'seq': 2, 'did': DID, 'active': True,
                                   'time': '2026-11-29T00:00:02.000Z'})
          + b''.join(written(n, f'e{n}') for n in range(4, 8)))


def events(fault, count, query=''):
  """What a server sends to begin with, on the nth connection."""
  if fault in BROKEN:
    return broken(fault, count, query)
  if fault == 'blocks':
    return (written(1, 'a') + written(2, 'b', RICH) + written(3, 'c', deep(100))
            + written(4, 'd', blocks=b'') + written(5, 'e', blocks=b'\x05abc')
            + written(6, 'f', {**RECORD, 'n': 2}, blocks=car(RECORD))
            + written(7, 'g', blocks=car(RICH)[:-3]) + written(8, 'bad', deep(100)))
  if fault == 'others':
    return (event('#identity', {'seq': 1, 'did': DID}) + event('#account', {'seq': 2, 'did': DID})
            + event('#sync', {'seq': 3, 'did': DID, 'rev': rev(3)}) + commit(4) + written(5, 'a'))
  if fault in ('anew', 'equal'):
    # A server made anew, or put back, numbers from 1 and says nothing of it.
    later = [at(n, f'n{n}', 10 + n) for n in range(1, 7)]
    old = at(1, 'o1', 1) if fault == 'equal' else later[0]
    return [at(5, 'o5', 5) + at(6, 'o6', 6), later[1] if fault == 'anew' else later[5],
            b''.join([old] + later[1:])][min(count, 3) - 1]
  if fault == 'toobig':
    return commit(1, tooBig=True) + commit(2) + commit(3, change('a'))
  if fault == 'numberless':
    return commit(None, change('a')) + commit('2', change('a')) + commit(3, change('a'))
  if fault == 'strange':
    return (event('#identity', {'seq': 1, 'did': DID, '\u0301key"': 1})
            + commit(2, change('a', value={'n': 'theirs'})))
  if fault == 'large':
    return commit(1, change('a'), junk=b'x' * (9 << 20)) + commit(2, change('b'))
  if fault == 'many':
    return event('#account', {'seq': 1, 'did': DID, 'x': [0] * 200_000}) + commit(2, change('a'))
  if fault == 'wordy':
    return event('', {'error': 'Slow', 'message': 'm' * 100_000}, op=-1)
  if fault == 'future':
    return event('', {'error': 'FutureCursor'}, op=-1)
  return commit(1, change('a')) + commit(2, change('b'))


# --- answers

def page(fault, query):
  """The next of nine records, one a page; the cursor is how many are left."""
  left = int(query.get('cursor', 9))
  if left <= 0:
    return {'records': []}
  rows = [row(f'k{left}')]
  if fault == 'gaps' and left % 2 == 0 or fault == 'idle':
    rows = []
  if fault == 'badrow' and left == 5:
    rows = [{'uri': 'at://x/y', 'value': {}}]
  if fault == 'twice' and left == 5:
    rows = [row('k9')]
  following = {'numbers': left - 1, 'oddcursor': {}, 'idle': str(left + 1000)}
  return {'records': rows, 'cursor': following.get(fault, str(left - 1))}


def answer(fault, method, query, count, given, token):
  """Status, headers and body."""
  error = lambda status, name, **headers: (status, headers, {'error': name, 'message': 'no'})
  if method == 'getLatestCommit' and fault in BROKEN and fault != 'norevs':
    return 200, {}, {'cid': cid_text(RECORD), 'rev': rev(5 if count == 1 or fault == 'quiet' else 7)}
  if method == 'getLatestCommit' and fault.startswith('proxy'):
    return 200, {}, {'cid': cid_text(RECORD), 'rev': rev(5)}
  if method == 'describeRepo':
    return 200, {}, {'did': DID, 'handle': 'a.test', 'collections': [TYPE]}
  if method == 'uploadBlob':
    name = b'\x01\x55\x12\x20' + hashlib.sha256(given).digest()
    link = 'b' + base64.b32encode(name).decode().lower().rstrip('=')
    BLOBS[link] = given
    return 200, {}, {'blob': {'$type': 'blob', 'ref': {'$link': link}, 'size': len(given)}}
  if method == 'getBlob':
    if fault == 'portal':
      return 200, PAGE, '<html>log in first'
    if query['cid'] in BLOBS:
      return 200, {}, BLOBS[query['cid']]
    return error(400, 'BlobNotFound')
  if method == 'createSession':
    return 200, {}, {'did': 'did:web:b.test' if fault == 'stranger' else DID,
                     'handle': 'a.test', 'accessJwt': f'SECRET{count}', 'refreshJwt': 'REFRESH'}
  if method == 'listRecords':
    if fault == 'norev' and 'reverse' in query:
      return error(501, 'MethodNotImplemented')
    return 200, {}, page(fault, query)
  if method == 'putRecord':
    if fault == 'unread' and token != 'Bearer SECRET2':
      return 500, {}, 'oops'
    if fault == 'conflicts':
      return error(400, 'InvalidSwap')
    sent = given['record']
    cid = '\x1b[31mSECRET1' + 'z' * 100_000 if fault == 'bigcid' else cid_text(sent)
    return 200, {}, {'uri': f'at://{DID}/{TYPE}/{given["rkey"]}', 'cid': cid}
  if method == 'getRecord':
    if fault == 'away' and count == 1:
      return 503, {'Retry-After': '1'}, 'no'
    if fault == 'page':
      return 404, PAGE, '<html>404'
    if fault == 'private':
      return error(401, 'AuthMissing')
    if fault == 'other':
      return 200, {}, row('other')
    if fault == 'blocks' and query['rkey'] == 'bad':
      return error(500, 'InternalServerError')
    if fault == 'blocks' and query['rkey'] == 'c':
      return 200, {}, {'uri': f'at://{DID}/{TYPE}/c', 'cid': cid_text(deep(100)), 'value': deep(100)}
    if query['rkey'] == 'a' and fault == 'gone':
      return error(400, 'RecordNotFound')
    if query['rkey'] == 'a' and fault in ('refused', 'conflicts'):
      return error(400, 'RepoTakendown')
    return 200, {}, row(query['rkey'])
  return error(400, 'InvalidRequest')


class Handler(BaseHTTPRequestHandler):
  protocol_version = 'HTTP/1.1'
  counts = {}
  lock = threading.Lock()

  def log_message(self, *_):
    pass

  def serve(self):
    url = urllib.parse.urlsplit(self.path)
    fault, method = url.path.split('/')[1], url.path.rsplit('.', 1)[-1]
    given = self.rfile.read(int(self.headers.get('Content-Length') or 0))
    with self.lock:
      count = self.counts[fault, method] = self.counts.get((fault, method), 0) + 1
      with open(sys.argv[1], 'a') as log:
        log.write(f'{fault} {method} {url.query}\n')
    if method == 'subscribeRepos':
      if fault.startswith('proxy'):
        # A proxy that does not hand the upgrade on.
        name = 'No service configured for com.atproto.sync.subscribeRepos'
        return self.reply(*{
          'proxy': (400, {}, {'error': 'InvalidRequest', 'message': name}),
          'proxypage': (400, PAGE, '<html>400 Bad Request'),
          'proxywords': (400, {'Content-Type': 'text/plain'}, 'Bad Request')}[fault])
      return self.stream(fault, count, url.query)
    query = dict(urllib.parse.parse_qsl(url.query))
    status, headers, body = answer(
      fault, method, query, count, given if method == 'uploadBlob' else json.loads(given or '{}'),
      self.headers.get('Authorization'))
    if method == 'uploadBlob' and status == 200:
      body['blob']['mimeType'] = self.headers['Content-Type']
    if self.headers.get('Content-Type') == 'text/none':
      status, headers, body = 400, {}, {'error': 'InvalidMimeType', 'message': 'no'}
    self.reply(status, headers, body)

  def reply(self, status, headers, body):
    if isinstance(body, bytes):
      headers = {'Content-Type': 'text/html', **headers}
    elif not isinstance(body, str):
      body = json.dumps(body)
      headers = {'Content-Type': 'application/json', **headers}
    self.send_response(status)
    for name, value in headers.items():
      self.send_header(name, value)
    body = body if isinstance(body, bytes) else body.encode()
    self.send_header('Content-Length', str(len(body)))
    self.end_headers()
    self.wfile.write(body)

  do_GET = do_POST = serve

  def stream(self, fault, count, query):
    key = self.headers['Sec-WebSocket-Key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
    accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    self.wfile.write(('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n'
                      f'Connection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n').encode())
    self.close_connection = True
    try:
      self.wfile.write(events(fault, count, query))
      if count == 1 and fault in ('anew', 'equal', *BROKEN):
        return
      while self.connection.recv(4096):
        pass
    except OSError:
      pass


def main():
  server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
  server.daemon_threads = True
  print(json.dumps({'type': 'listening', 'url': f'http://127.0.0.1:{server.server_port}'},
                   separators=(',', ':')), flush=True)
  server.serve_forever()


if __name__ == '__main__':
  main()
