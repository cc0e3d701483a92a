import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { isPolicyBody, policyBodyProblem } from '@skerry/contract/agents/policy-body'
import { type Bytes, decodeBase64url, decodeUtf8, encodeBase64url } from '@skerry/crypto/base64url'
import { type DirectorySigner, signerOfPerson } from '@skerry/crypto/directory/signing'
import { CryptoError } from '@skerry/crypto/errors'
import { importPrivateKey, type PrivateKey, publicKeyJwkOf } from '@skerry/crypto/keys'
import { type PolicySigner, policySigner } from '@skerry/crypto/policy'
import { unwrapKey, wrapToSelf } from '@skerry/crypto/wrap'
import { type Answer, lineMaxBytes, type Request, type Start } from './protocol.ts'

// This process keeps an unlocked private key. It opens wrapped keys for every program that can reach its socket, and
// never returns the private key itself. A program can open keys only while the agent runs.

/**
 * Serves until a lock request, the idle timeout or the end of its lifetime. Prints `ready` on stdout once it listens.
 */
async function serve(start: Start): Promise<void> {
  const privateKey = await importPrivateKey(decodeBase64url(start.privateKey))
  const signing = await importPrivateKey(decodeBase64url(start.privateKey), { extractable: true })
  const signer = await policySigner(signing)
  const directorySigner = await signerOfPerson(signing)
  const endsAtMs = Date.now() + start.lifeSeconds * 1000
  let lockAtMs = 0
  let timer: NodeJS.Timeout | undefined
  const lock = () => {
    rmSync(start.socket, { force: true })
    process.exit(0)
  }
  const stayAwake = () => {
    clearTimeout(timer)
    lockAtMs = Math.min(Date.now() + start.idleSeconds * 1000, endsAtMs)
    timer = setTimeout(lock, lockAtMs - Date.now())
  }
  // After the machine wakes up, a request may arrive before the late timer fires. It must not be answered.
  const isOver = () => Date.now() >= lockAtMs

  const answer = async (request: Request): Promise<Answer> => {
    if (isOver()) lock()
    if (request.op === 'unwrap') {
      stayAwake()
      return { bytes: encodeBase64url(await unwrapKey(request.blob, privateKey)) }
    }
    if (request.op === 'wrap-to-self') {
      stayAwake()
      return { blob: await wrapToSelf(decodeBase64url(request.key), privateKey) }
    }
    if (request.op === 'sign-policy') {
      stayAwake()
      return { bytes: encodeBase64url(await signPolicyBody(signer, decodeBase64url(request.body))) }
    }
    if (request.op === 'directory-signer') {
      stayAwake()
      return { signer: { kid: directorySigner.kid, jwk: directorySigner.jwk } }
    }
    if (request.op === 'sign-directory') {
      stayAwake()
      return { bytes: encodeBase64url(await signDirectory(directorySigner, decodeBase64url(request.body))) }
    }
    if (request.op === 'status') return { status: statusOf(privateKey, lockAtMs) }
    return request.op === 'lock' ? { ok: true } : { error: 'invalid_request' }
  }
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    void converse(socket, answer).then((request) => {
      if (request?.op === 'lock') lock()
    })
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, lock)
  // Closes the socket itself to other users too, and not only its folder.
  process.umask(0o077)
  rmSync(start.socket, { force: true })
  await new Promise<void>((done, fail) => server.once('error', fail).listen(start.socket, done))
  stayAwake()
  process.stdout.write('ready\n')
}

/**
 * Signs only policies, because a program that reaches the socket must not get anything else signed in the person's
 * name.
 */
async function signPolicyBody(signer: PolicySigner, body: Bytes): Promise<Bytes> {
  const parsed: unknown = JSON.parse(decodeUtf8(body))
  if (!isPolicyBody(parsed) || policyBodyProblem(parsed) !== null) throw new CryptoError('policy_invalid')
  return signer.sign(body)
}

/** Signs only roots and heads: the bytes begin with their prefix, and a JSON object follows. */
async function signDirectory(signer: DirectorySigner, bytes: Bytes): Promise<Bytes> {
  const [, body] = /^(?:or1|od1)\.(\{.*\})$/s.exec(decodeUtf8(bytes)) ?? []
  if (body === undefined) throw new CryptoError('directory_malformed')
  JSON.parse(body)
  return signer.sign(bytes)
}

const statusOf = (privateKey: PrivateKey, lockAtMs: number) => ({
  publicKeyJwk: publicKeyJwkOf(privateKey),
  locksInSeconds: Math.max(0, Math.round((lockAtMs - Date.now()) / 1000)),
})

/** Reads one line, answers it and closes. Returns the request after the answer was sent. */
async function converse(socket: Socket, answer: (request: Request) => Promise<Answer>): Promise<Request | undefined> {
  socket.on('error', () => {})
  socket.setTimeout(30_000, () => socket.destroy())
  const request = parse(await readLine(socket))
  const said = request ? await answer(request).catch(codeOf) : { error: 'invalid_request' }
  if (socket.destroyed) return request
  await new Promise<void>((done) => socket.end(`${JSON.stringify(said)}\n`, done))
  return request
}

/** Reads with events, because iterating over the socket closes it at the end of the line. */
function readLine(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      if (text.length > lineMaxBytes) socket.destroy()
      if (text.includes('\n')) resolve(text)
    })
    socket.on('close', () => resolve(''))
  })
}

const codeOf = (error: unknown): Answer => ({ error: error instanceof CryptoError ? error.code : 'internal' })

function parse(text: string): Request | undefined {
  try {
    return JSON.parse(text) as Request
  } catch {
    return undefined
  }
}

async function readStart(): Promise<Start> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
  return JSON.parse(text) as Start
}

// No `await` here, because the single executable cannot load a module that waits.
void readStart().then(serve)
