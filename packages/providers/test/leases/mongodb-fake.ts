import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { BSON } from 'mongodb'

// A mongod on the wire, with the commands for accounts: OP_MSG (and OP_QUERY for the first hello), SCRAM-SHA-256,
// createUser, usersInfo, connectionStatus, killAllSessions, dropUser; find and insert for those accounts, as their roles allow. It
// refuses fields that the documentation of a command does not name. Not the real service.

interface Account {
  user: string
  roles: { role: string; db: string }[]
  customData?: Record<string, unknown>
  password: string
}

type Doc = Record<string, unknown>

export interface MongodbFake {
  port: number
  /** Accounts of the database `admin`. */
  accounts: Map<string, Account>
  /** Names of the commands after the sign-in, in order. */
  commands: string[]
  /** Commands that the admin account may not run. */
  forbidden: Set<string>
  secondary: boolean
  /** The mechanisms for sign-in that it offers. */
  mechanisms?: string[]
  /** The mechanisms with which clients began to sign in. */
  begun: string[]
  stop(): Promise<void>
}

class Refusal extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const fields: Record<string, readonly string[]> = {
  createUser: [
    'pwd',
    'customData',
    'roles',
    'digestPassword',
    'writeConcern',
    'authenticationRestrictions',
    'mechanisms',
  ],
  dropUser: ['writeConcern'],
  usersInfo: ['showCredentials', 'showCustomData', 'showPrivileges', 'filter'],
  killAllSessions: [],
  connectionStatus: ['showPrivileges'],
  rolesInfo: ['showAuthenticationRestrictions', 'showBuiltinRoles', 'showPrivileges'],
  ping: [],
  buildInfo: [],
  find: ['filter'],
  insert: ['documents'],
  hello: [
    'helloOk',
    'client',
    'compression',
    'topologyVersion',
    'maxAwaitTimeMS',
    'saslSupportedMechs',
    'speculativeAuthenticate',
    'loadBalanced',
    'backpressure',
  ],
}

interface Admin {
  user: string
  password: string
}

/** Starts the fake. With a certificate, it accepts only TLS. */
export async function startMongodbFake(admin: Admin, tls?: { cert: string; key: string }): Promise<MongodbFake> {
  const open = new Set<Socket>()
  const fake = {
    accounts: new Map<string, Account>(),
    commands: [] as string[],
    forbidden: new Set<string>(),
    begun: [] as string[],
  }
  const state = Object.assign(fake, { secondary: false, port: 0, stop })
  const take = (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => open.delete(socket))
    converse(socket, state, admin)
  }
  const server = tls ? createTlsServer(tls, take) : createServer(take)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  state.port = (server.address() as AddressInfo).port
  async function stop() {
    for (const socket of open) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  return state
}

const OP_REPLY = 1
const OP_QUERY = 2004
const OP_MSG = 2013

function converse(socket: Socket, fake: MongodbFake, admin: Admin): void {
  let pending = Buffer.alloc(0)
  const scram = new Scram((user) => (user === admin.user ? admin.password : fake.accounts.get(user)?.password))
  let caller: Caller = null
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk])
    while (pending.length >= 16 && pending.length >= pending.readInt32LE(0)) {
      const message = pending.subarray(0, pending.readInt32LE(0))
      pending = pending.subarray(message.length)
      const [id, opcode] = [message.readInt32LE(4), message.readInt32LE(12)]
      let body: Doc
      let command: Doc = {}
      try {
        command = opcode === OP_QUERY ? readQuery(message) : readMsg(message)
        if (command.saslStart) fake.begun.push(String(command.mechanism))
        if (command.saslStart) body = scram.first(command)
        else if (command.saslContinue) {
          body = scram.last(command)
          if (body.done === true) caller = scram.user === admin.user ? 'admin' : { user: scram.user }
        } else body = answer(fake, command, caller)
        body = { ...body, ok: 1 }
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        body = { ok: 0, errmsg: error.message, code: error.code, codeName: 'Refused' }
      }
      socket.write(opcode === OP_QUERY ? reply(id, body) : msg(id, body))
    }
  })
}

function readQuery(message: Buffer): Doc {
  const end = message.indexOf(0, 20)
  const command = BSON.deserialize(message.subarray(end + 1 + 8)) as Doc
  if (!('ismaster' in command || 'isMaster' in command || 'hello' in command))
    throw new Refusal(352, 'Unsupported OP_QUERY command')
  const { ismaster: _, isMaster: __, ...rest } = command
  return { hello: 1, ...rest }
}

function readMsg(message: Buffer): Doc {
  if (message.readUInt32LE(16) !== 0) throw new Refusal(9, 'flags that this fake does not have')
  if (message[20] !== 0) throw new Refusal(9, 'only body sections')
  return BSON.deserialize(message.subarray(21)) as Doc
}

function header(length: number, to: number, opcode: number): Buffer {
  const bytes = Buffer.alloc(16)
  bytes.writeInt32LE(16 + length, 0)
  bytes.writeInt32LE(to, 8)
  bytes.writeInt32LE(opcode, 12)
  return bytes
}

function msg(to: number, body: Doc): Buffer {
  const section = Buffer.concat([Buffer.alloc(5), BSON.serialize(body)])
  return Buffer.concat([header(section.length, to, OP_MSG), section])
}

function reply(to: number, body: Doc): Buffer {
  const document = BSON.serialize(body)
  const fixed = Buffer.alloc(20)
  fixed.writeInt32LE(1, 16)
  return Buffer.concat([header(20 + document.length, to, OP_REPLY), fixed, document])
}

/** The account that has signed in: none, the admin account, or one that was created here. */
type Caller = null | 'admin' | { user: string }

function answer(fake: MongodbFake, { $db, lsid: _, $readPreference: __, ...command }: Doc, caller: Caller): Doc {
  const [name = '', ...rest] = Object.keys(command)
  if (name === 'endSessions') return {}
  const known = fields[name]
  if (!known) throw new Refusal(59, `no such command: '${name}'`)
  const unknown = rest.find((field) => !known.includes(field))
  if (unknown) throw new Refusal(40415, `BSON field '${name}.${unknown}' is an unknown field.`)
  if (name === 'hello') return hello(fake)
  if (caller === null) throw new Refusal(13, `Command ${name} requires authentication`)
  if (caller !== 'admin') return answerAccount(fake, name, String($db), caller.user)
  if (fake.forbidden.has(name)) throw new Refusal(13, `not authorized on ${$db} to execute command`)
  fake.commands.push(name)
  if (rolesFor[name]) throw new Refusal(13, `not authorized on ${$db} to execute command`)
  if (name === 'ping') return {}
  if (name === 'buildInfo') return { version: '7.0.14' }
  if ($db !== 'admin') throw new Refusal(13, 'accounts of this suite live in admin')
  if (name === 'usersInfo') return { users: users(fake, command) }
  if (name === 'killAllSessions') return {}
  if (name === 'connectionStatus') return connectionStatus(fake, command)
  if (name === 'rolesInfo') return { roles: rolesInfo(command) }
  if (fake.secondary) throw new Refusal(10107, 'not primary')
  return name === 'createUser' ? createUser(fake, command) : dropUser(fake, command)
}

const rolesFor: Readonly<Record<string, readonly string[]>> = { find: ['read', 'readWrite'], insert: ['readWrite'] }

/** The account of an open connection may be gone. Its next operation is then refused. */
function answerAccount(fake: MongodbFake, name: string, db: string, user: string): Doc {
  const account = fake.accounts.get(user)
  if (!account) throw new Refusal(13, `Command ${name} requires authentication`)
  if (name === 'ping') return {}
  if (!account.roles.some((held) => held.db === db && rolesFor[name]?.includes(held.role)))
    throw new Refusal(13, `not authorized on ${db} to execute command`)
  return name === 'insert' ? { n: 1 } : { cursor: { id: 0, ns: `${db}.notes`, firstBatch: [] } }
}

const hello = (fake: MongodbFake): Doc => ({
  isWritablePrimary: !fake.secondary,
  ismaster: !fake.secondary,
  maxBsonObjectSize: 16_777_216,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  minWireVersion: 0,
  maxWireVersion: 21,
  logicalSessionTimeoutMinutes: 30,
  readOnly: false,
  helloOk: true,
  ...(fake.mechanisms ? { saslSupportedMechs: fake.mechanisms } : {}),
})

const ownActions: Readonly<Record<string, readonly string[]>> = {
  read: ['find'],
  readWrite: ['find', 'insert'],
  reporting: ['find'],
  maker: ['createUser'],
  // Inherits from maker.
  manager: [],
}

const isRole = ({ role }: { role: string }) => Object.hasOwn(ownActions, role)

/** The admin account has the roles `userAdmin` and, unless it may not end sessions, a role with `killAnySession`. */
function connectionStatus(fake: MongodbFake, { showPrivileges }: Doc): Doc {
  const authenticatedUserPrivileges = [
    { resource: { db: 'admin', collection: '' }, actions: ['createUser', 'dropUser', 'grantRole', 'viewUser'] },
    ...(fake.forbidden.has('killAllSessions') ? [] : [{ resource: { cluster: true }, actions: ['killAnySession'] }]),
  ]
  return {
    authInfo: {
      authenticatedUsers: [{ user: 'skerry', db: 'admin' }],
      ...(showPrivileges ? { authenticatedUserPrivileges } : {}),
    },
  }
}

function rolesInfo({ rolesInfo, showPrivileges }: Doc): Doc[] {
  const privileges = (role: string) => [{ resource: { db: 'shop', collection: '' }, actions: ownActions[role] ?? [] }]
  return (rolesInfo as { role: string; db: string }[]).filter(isRole).map(({ role, db }) => {
    const above = role === 'manager' ? [{ role: 'maker', db }] : []
    const inherited = [...privileges(role), ...above.flatMap((one) => privileges(one.role))]
    const shown = showPrivileges === true ? { privileges: privileges(role), inheritedPrivileges: inherited } : {}
    return { role, db, isBuiltin: false, roles: above, inheritedRoles: above, ...shown }
  })
}

function users(fake: MongodbFake, { usersInfo, showCustomData }: Doc): Doc[] {
  const wanted = typeof usersInfo === 'object' ? (usersInfo as Doc).user : undefined
  return [...fake.accounts.values()]
    .filter(({ user }) => wanted === undefined || user === wanted)
    .map(({ user, roles, customData }) => ({
      _id: `admin.${user}`,
      user,
      db: 'admin',
      roles,
      // Left out by default, as in version 5 and later.
      ...(showCustomData && customData ? { customData } : {}),
    }))
}

function createUser(fake: MongodbFake, command: Doc): Doc {
  const { createUser: user, pwd, roles, mechanisms, writeConcern, customData } = command
  if (typeof user !== 'string' || typeof pwd !== 'string' || !Array.isArray(roles)) throw new Refusal(2, 'bad value')
  if (fake.accounts.has(user)) throw new Refusal(51_003, `User "${user}@admin" already exists`)
  for (const { role, db } of roles as { role: string; db: string }[])
    if (!isRole({ role })) throw new Refusal(31, `Could not find role: ${role}@${db}`)
  if ((mechanisms as string[] | undefined)?.join() !== 'SCRAM-SHA-256') throw new Refusal(2, 'mechanisms')
  if ((writeConcern as Doc | undefined)?.w !== 'majority') throw new Refusal(2, 'writeConcern')
  fake.accounts.set(user, {
    user,
    roles,
    password: pwd,
    ...(customData === undefined ? {} : { customData: customData as Doc }),
  })
  return {}
}

function dropUser(fake: MongodbFake, { dropUser: user }: Doc): Doc {
  if (!fake.accounts.delete(String(user))) throw new Refusal(11, `User '${user}@admin' not found`)
  return {}
}

/** The server’s side of RFC 7677, as far as a client can observe it. */
class Scram {
  user = ''
  private readonly passwordOf: (user: string) => string | undefined
  private readonly salt = randomBytes(28)
  private clientFirst = ''
  private serverFirst = ''

  constructor(passwordOf: (user: string) => string | undefined) {
    this.passwordOf = passwordOf
  }

  first({ mechanism, payload, $db }: Doc): Doc {
    const text = bytes(payload).toString()
    const [, user = '', nonce] = /^n,,(?:n=([^,]*),r=(.+))$/.exec(text) ?? []
    if (mechanism !== 'SCRAM-SHA-256' || $db !== 'admin' || this.passwordOf(user) === undefined) throw denied()
    this.user = user
    this.clientFirst = text.slice(3)
    this.serverFirst = `r=${nonce}${randomBytes(18).toString('base64')},s=${this.salt.toString('base64')},i=15000`
    return { conversationId: 1, done: false, payload: new BSON.Binary(Buffer.from(this.serverFirst)) }
  }

  last({ payload }: Doc): Doc {
    const text = bytes(payload).toString()
    const [, withoutProof = '', proof = ''] = /^(c=biws,r=[^,]+),p=(.+)$/.exec(text) ?? []
    const password = this.passwordOf(this.user)
    if (password === undefined) throw denied()
    const salted = pbkdf2Sync(password, this.salt, 15_000, 32, 'sha256')
    const hmac = (key: Buffer, data: string) => createHmac('sha256', key).update(data).digest()
    const clientKey = hmac(salted, 'Client Key')
    const auth = `${this.clientFirst},${this.serverFirst},${withoutProof}`
    const signature = hmac(createHash('sha256').update(clientKey).digest(), auth)
    const expected = clientKey.map((byte, index) => byte ^ (signature[index] ?? 0))
    const given = Buffer.from(proof, 'base64')
    if (given.length !== 32 || !timingSafeEqual(expected, given)) throw denied()
    const verifier = hmac(hmac(salted, 'Server Key'), auth).toString('base64')
    return { conversationId: 1, done: true, payload: new BSON.Binary(Buffer.from(`v=${verifier}`)) }
  }
}

const bytes = (payload: unknown) => Buffer.from((payload as BSON.Binary).buffer)
const denied = () => new Refusal(18, 'Authentication failed.')
