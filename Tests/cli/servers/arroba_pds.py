#!/usr/bin/env python3
"""A personal data server on loopback: arroba (PyPI) with one account, in memory.

    arroba_pds.py [--awkward] [--lifetime SECONDS] [--page COUNT] [--deaf] [--private]
                  [--log FILE] [--faults FILE]

What arroba leaves out is added: sessions with tokens that expire, swaps, describeRepo. With
--awkward its own lists and creates stay: oldest first, an inclusive cursor, no reverse;
and a swap is no less a conflict when the record is there as it was sent. A page has at most
--page records, whatever is asked for. Each line of --faults is used once, by the first request
that it names, and taken out:

    {"method": "putRecord", "status": 429, "headers": {"Retry-After": "1"}, "text": "..."}
    {"method": "putRecord", "lose": true}         done, and no answer
    {"method": "getRecord", "wait": 2}            first wait so many seconds

As long as there is a file of that name with `.down` behind it, nobody gets an answer. With
`.portal` behind it everybody gets a page with the status that is in it, or a redirect to the address
behind that, as in front of a network
where one logs in first; with `.state` the account is `deactivated` or `takendown`, as on the
reference server; with `.handle` that is its handle now. With
--deaf nothing is a conflict, as on servers that do not know swaps. With --private nobody is told
anything who has not logged in.
"""
import argparse
import json
import os
import socket
import sys
import threading
import time
import uuid

for name in 'PDS_HOST', 'PLC_HOST', 'REPO_TOKEN', 'REPO_PASSWORD':
  os.environ[name] = 'localhost'

import jwt
from arroba import firehose, server, xrpc_repo, xrpc_sync
from arroba import xrpc_server as _  # noqa: F401, registers its calls
from arroba.repo import Repo
from arroba.storage import MemoryStorage
from arroba.util import at_uri, dag_cbor_cid, new_key
from flask import Flask, request
from lexrpc.base import XrpcError
from lexrpc.flask_server import init_flask
from werkzeug.serving import WSGIRequestHandler, make_server

DID = 'did:web:alice.test'
HANDLE = 'alice.test'
PASSWORD = 'app-pass-word-1234'
KEY = 'k' * 32
REPO = 'com.atproto.repo.'
SESSION = 'com.atproto.server.'


class Account:
  """Who may write, and with which tokens."""

  def __init__(self, lifetime, is_awkward, handle):
    self.lifetime = lifetime
    self.is_awkward = is_awkward
    self.handle = handle
    self.used = set()
    self.lock = threading.Lock()

  def pair(self):
    now = time.time()
    def token(scope, seconds):
      claims = {'scope': scope, 'sub': DID, 'aud': 'did:web:localhost', 'iat': int(now),
                'exp': int(now + seconds) + 60,
                'until': now + seconds, 'jti': uuid.uuid4().hex}
      return jwt.encode(claims, KEY, 'HS256')
    return {'did': DID, 'handle': self.handle(), 'active': True,
            'accessJwt': token('com.atproto.appPass', self.lifetime),
            'refreshJwt': token('com.atproto.refresh', 90 * 86400)}

  def claims(self, scope, given=None):
    given = request.headers.get('Authorization', '') if given is None else given
    if not given.startswith('Bearer '):
      raise XrpcError('Authentication Required', name='AuthMissing', status=401)
    try:
      found = jwt.decode(given[7:], KEY, ['HS256'], audience='did:web:localhost')
    except jwt.PyJWTError:
      raise XrpcError('Token could not be verified', name='InvalidToken')
    # Its own, as `exp` has whole seconds.
    if found['until'] < time.time():
      raise XrpcError('Token has expired', name='ExpiredToken')
    if found['scope'] != scope:
      raise XrpcError('Bad token scope', name='InvalidToken')
    return found

  def authenticate(self):
    return self.claims('com.atproto.appPass')['sub'], server.ALL_SCOPES

  def create(self, input):
    names = [self.handle()] + ([] if self.is_awkward else [DID])
    if input.get('password') != PASSWORD or input.get('identifier') not in names:
      raise XrpcError('Invalid identifier or password', name='AuthenticationRequired', status=401)
    return self.pair()

  def refresh(self, input):
    jti = self.claims('com.atproto.refresh')['jti']
    with self.lock:
      if jti in self.used:
        raise XrpcError('Token has been revoked', name='ExpiredToken')
      self.used.add(jti)
    return self.pair()

  def get(self, input):
    self.authenticate()
    return {'did': DID, 'handle': self.handle(), 'active': True}


class Records:
  """The calls that change records as the reference server has them."""

  def __init__(self, is_strict, is_deaf, handle):
    self.handle = handle
    self.is_strict = is_strict
    self.is_deaf = is_deaf
    self.lock = threading.Lock()
    self.put_there = server.server._methods[REPO + 'putRecord']
    self.delete_there = server.server._methods[REPO + 'deleteRecord']

  def present(self, input):
    repo = server.load_repo(input['repo'])
    record = repo.get_record(input['collection'], input['rkey'])
    return record and dag_cbor_cid(record).encode('base32')

  def check(self, input, present):
    if 'swapRecord' in input and input.pop('swapRecord') != present and not self.is_deaf:
      raise XrpcError(f'Record was at {present}', name='InvalidSwap')

  def commit(self):
    head = server.load_repo(DID).head
    return {'cid': head.cid.encode('base32'), 'rev': head.decoded['rev']}

  def put(self, input):
    server.authenticate()
    with self.lock:
      present = self.present(input)
      cid = dag_cbor_cid(input['record']).encode('base32')
      if cid == present and not self.is_strict:
        return {'uri': at_uri(DID, input['collection'], input['rkey']), 'cid': cid}
      self.check(input, present)
      return {**self.put_there(input), 'commit': self.commit()}

  def delete(self, input):
    server.authenticate()
    with self.lock:
      present = self.present(input)
      if present is None:
        return {}
      self.check(input, present)
      self.delete_there(input)
      return {'commit': self.commit()}

  def create(self, input):
    server.authenticate()
    with self.lock:
      input.setdefault('rkey', xrpc_repo.next_tid())
      if self.present(input):
        raise XrpcError('Record already exists')
      return {**self.put_there(input), 'commit': self.commit()}

  def list(self, input, repo=None, collection=None, limit=50, cursor=None, reverse=False):
    entries = server.load_repo(repo).mst.list_with_prefix(f'{collection}/')
    keys = sorted((entry.key.split('/')[1] for entry in entries), reverse=not reverse)
    if cursor:
      keys = [key for key in keys if (key > cursor if reverse else key < cursor)]
    there = server.load_repo(repo)
    rows = []
    for key in keys[:limit]:
      value = there.get_record(collection, key)
      rows.append({'uri': at_uri(there.did, collection, key), 'value': value,
                   'cid': dag_cbor_cid(value).encode('base32')})
    return {'records': rows, **({'cursor': keys[:limit][-1]} if rows else {})}

  def describe(self, input, repo=None):
    there = server.load_repo(repo)
    names = sorted({entry.key.split('/')[0] for entry in there.mst.list()})
    return {'did': there.did, 'handle': self.handle(), 'didDoc': {}, 'collections': names,
            'handleIsCorrect': True}


class Faults:
  """A WSGI layer that keeps a log, and does what the file of faults says."""

  def __init__(self, app, log, faults, door):
    self.app = app
    self.door = door
    self.log = log
    self.faults = faults
    self.lock = threading.Lock()

  def refusal(self, method, given):
    """What is said to who has not logged in; nothing to others."""
    if self.door and method not in ('describeServer', 'createSession', 'refreshSession'):
      try:
        self.door('com.atproto.appPass', given)
      except XrpcError as error:
        return {'status': error.status or 400, 'headers': {'Content-Type': 'application/json'},
                'text': json.dumps({'error': error.name, 'message': str(error)})}
    return {}

  def told(self, what):
    """What a file behind that of the faults says; None where there is none."""
    try:
      with open(self.faults + '.' + what) as file:
        return file.read().strip()
    except (OSError, TypeError):
      return None

  def handle(self):
    return self.told('handle') or HANDLE

  def inactive(self, method, query):
    """What the reference server says of an account that is not active, or of a handle that it
    had before; nothing of others."""
    def error(status, name, message):
      return {'status': status, 'headers': {'Content-Type': 'application/json'},
              'text': json.dumps({'error': name, 'message': message})}
    state = self.told('state')
    nobody = {'getRecord': 'Could not locate record',
              'listRecords': f'Could not find repo: {HANDLE}'}
    if self.told('handle') and f'repo={HANDLE}' in query:
      if method in nobody:
        return error(400, 'InvalidRequest', nobody[method])
      return error(400, 'RepoNotFound', 'Could not find repo')
    if not state:
      return {}
    name = state.capitalize()
    if method in ('putRecord', 'deleteRecord', 'createRecord', 'applyWrites'):
      account = 'Takedown' if state == 'takendown' else name
      return error(401, f'Account{account}', f'Account is {state}')
    if method == 'createSession' and state == 'takendown':
      return error(401, 'AccountTakedown', 'Account has been taken down')
    if method in nobody:
      return error(400, 'InvalidRequest', nobody[method])
    if method in ('describeRepo', 'getLatestCommit'):
      return error(400, f'Repo{name}', f'Repo has been {state}')
    if method == 'getRepoStatus':
      return {'status': 200, 'headers': {'Content-Type': 'application/json'},
              'text': json.dumps({'did': DID, 'active': False, 'status': state})}
    return {}

  def next(self, method):
    if not self.faults or not os.path.exists(self.faults):
      return {}
    with open(self.faults) as file:
      lines = file.read().splitlines()
    for index, line in enumerate(lines):
      fault = json.loads(line)
      if fault['method'] == method:
        with open(self.faults, 'w') as file:
          file.writelines(line + '\n' for line in lines[:index] + lines[index + 1:])
        return fault
    return {}

  def __call__(self, environ, start):
    method = environ['PATH_INFO'].rsplit('.', 1)[-1]
    with self.lock:
      fault = self.next(method)
      if self.log:
        with open(self.log, 'a') as file:
          auth = environ.get('HTTP_AUTHORIZATION')
          file.write(json.dumps({'method': method, 'query': environ['QUERY_STRING'],
                                 'authorized': auth is not None}) + '\n')
    if self.faults and os.path.exists(self.faults + '.down'):
      environ['werkzeug.socket'].shutdown(socket.SHUT_RDWR)
      raise ConnectionError('down')
    portal = self.told('portal')
    if portal:
      status, *elsewhere = portal.split()
      fault = {'status': int(status),
               'headers': {'Content-Type': 'text/html; charset=utf-8',
                           **({'Location': elsewhere[0]} if elsewhere else {})},
               'text': '<!doctype html><title>Log in to the train</title>'}
    fault = fault or self.inactive(method, environ['QUERY_STRING'].replace('%3A', ':'))
    time.sleep(fault.get('wait', 0))
    fault = self.refusal(method, environ.get('HTTP_AUTHORIZATION', '')) or fault
    if 'status' in fault:
      headers = {'Content-Type': 'text/plain', **fault.get('headers', {})}
      start(f"{fault['status']} Fault", list(headers.items()))
      return [fault.get('text', '').encode()]
    if fault.get('lose'):
      body = b''.join(self.app(environ, lambda *_: None))
      environ['werkzeug.socket'].shutdown(socket.SHUT_RDWR)
      raise ConnectionError(f'{len(body)} bytes lost')
    return self.app(environ, start)


class Quiet(WSGIRequestHandler):
  protocol_version = 'HTTP/1.1'

  def log(self, *_):
    pass


def count_open(listener, path):
  """Keeps how many connections there are in a file: also those of clients that were killed."""
  (begin, end, lock, now) = (listener.process_request, listener.shutdown_request,
                             threading.Lock(), [0])
  def count(more):
    with lock:
      now[0] += more
      with open(path + '.new', 'w') as file:
        file.write(f'{now[0]}\n')
      os.replace(path + '.new', path)
  def process_request(*arguments):
    count(1)
    begin(*arguments)
  def shutdown_request(*arguments):
    end(*arguments)
    count(-1)
  listener.process_request, listener.shutdown_request = process_request, shutdown_request


def main():
  parser = argparse.ArgumentParser()
  parser.add_argument('--awkward', action='store_true')
  parser.add_argument('--lifetime', type=float, default=7200)
  parser.add_argument('--page', type=int, default=100)
  parser.add_argument('--deaf', action='store_true')
  parser.add_argument('--private', action='store_true')
  parser.add_argument('--log')
  parser.add_argument('--faults')
  options = parser.parse_args()

  server.storage = MemoryStorage()
  def told(data=None, lost_seq=None):
    if data:
      firehose.send_events()
    elif lost_seq:
      firehose.mark_seq_lost(lost_seq)
  server.repo = Repo.create(server.storage, DID, handle=HANDLE, signing_key=new_key())
  server.repo.callback = told
  firehose.start()

  faults = Faults(None, options.log, options.faults, None)
  account = Account(options.lifetime, options.awkward, faults.handle)
  server.authenticate = account.authenticate
  methods = server.server._methods
  records = Records(options.awkward, options.deaf, faults.handle)
  methods.update({
    SESSION + 'createSession': account.create, SESSION + 'refreshSession': account.refresh,
    SESSION + 'getSession': account.get, REPO + 'putRecord': records.put,
    REPO + 'deleteRecord': records.delete, REPO + 'describeRepo': records.describe,
    'com.atproto.sync.subscribeRepos': xrpc_sync.subscribe_repos,
  })
  if not options.awkward:
    methods.update({REPO + 'createRecord': records.create, REPO + 'listRecords': records.list})

  lists = methods[REPO + 'listRecords']
  def page(input, limit=50, **params):
    return lists(input, limit=min(limit, options.page), **params)
  methods[REPO + 'listRecords'] = page

  app = Flask('pds')
  init_flask(server.server, app)
  faults.app = app.wsgi_app
  faults.door = account.claims if options.private else None
  app.wsgi_app = faults
  listener = make_server('127.0.0.1', 0, app, threaded=True, request_handler=Quiet)
  if options.log:
    count_open(listener, options.log + '.open')
  print(json.dumps({'type': 'listening', 'url': f'http://127.0.0.1:{listener.port}'},
                   separators=(',', ':')), flush=True)
  listener.serve_forever()


if __name__ == '__main__':
  sys.exit(main())
