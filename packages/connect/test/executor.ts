import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Answer } from '@skerry/contract/endpoint'
import { vaultExecutor } from '@skerry/contract/vault/executor'
import type { VaultPlace, VaultSlot } from '@skerry/contract/vault/facts'
import { fingerprint } from '@skerry/crypto/digest'
import { generateKeyPair } from '@skerry/crypto/keys'
import { openCredential, sealCredential } from '@skerry/crypto/vault'
import { registration, sent } from '../../server/test/vault-scene.ts'
import type { World } from '../../server/test/world.ts'

type Session = Answer<typeof vaultExecutor.verifySession>['session']

/** The secrets that the executor gets from the provider and the site, and that nobody else may get. */
export const planted = {
  tokens: { accessToken: newPlanted('access'), refreshToken: newPlanted('refresh') },
  session: { cookies: newPlanted('cookie') },
}

function newPlanted(what: string): string {
  return `planted-${what}-${randomBytes(12).toString('hex')}`
}

/** An executor with a provider and a site behind it. It accepts exactly the requests that docs/vault-protocol.md describes. */
export interface TestExecutor {
  origin: string
  thumbprint: string
  /** The requests that it does not accept. */
  complaints: string[]
  /** The body of every request. */
  received: string[]
  /** Registers it with a project, with the catalog of providers that people can connect. */
  register: (code: string, catalog: object) => Promise<void>
  /** Reads a credential from the server, and opens it with its own key. */
  read: (connectionId: string, slot: VaultSlot) => Promise<string>
  /** Presents another key from now on, as an impostor would. */
  swapKey: () => Promise<void>
  close: () => Promise<void>
}

export async function startExecutor(world: World): Promise<TestExecutor> {
  const pageOrigin = world.url.replace('127.0.0.1', 'localhost')
  const own = await newKey()
  let presented = own.key
  let as = ''
  let signedIn = false
  const complaints: string[] = []
  const received: string[] = []
  const underWay = new Set<string>()

  const verify = async (body: string): Promise<Session> => {
    const { claimToken, flow: _, ...rest } = JSON.parse(body) as { claimToken: string; flow?: string }
    if (Object.keys(rest).length > 0) complaints.push(`unknown fields ${Object.keys(rest)}`)
    return (await sent(world, vaultExecutor.verifySession, { as, body: { claimToken } })).session
  }

  const complete = async ({ id, projectId, connectionId, provider, slots }: Session, slot: VaultSlot, text: string) => {
    const revision = slots.find((one) => one.slot === slot)?.revision ?? 1
    const place: VaultPlace = { projectId, connectionId, providerId: provider.id, slot, revision }
    const sealed = { ...(await sealCredential(text, place, own.publicKeyJwk)), keyThumbprint: own.key.thumbprint }
    const body = { slots: [{ slot, revision, ...sealed }] }
    return sent(world, vaultExecutor.complete, { as, params: { connectSessionId: id }, body })
  }

  const answers: Record<string, (body: string, url: URL) => Promise<Reply>> = {
    'GET /connect/identity': async () => json({ origin, keys: [{ ...presented, current: true }] }),
    'POST /connect/oauth/start': async (body) => {
      const session = await verify(body)
      underWay.add(session.id)
      return json({ authorizationUrl: `${origin}/provider?state=${session.id}` })
    },
    'GET /provider': async (_, url) => {
      const answer = (outcome: string) => `/oauth/callback?state=${url.searchParams.get('state')}&${outcome}`
      return html(`<a href="${answer('code=1')}">Allow</a> <a href="${answer('error=access_denied')}">Deny</a>`)
    },
    'GET /oauth/callback': async (_, url) => {
      const back = url.searchParams.has('code') ? `finish&f=${url.searchParams.get('state')}` : 'denied'
      return { status: 303, headers: { location: `${pageOrigin}/connect/#r=${back}` } }
    },
    'POST /connect/oauth/finish': async (body) => {
      const session = await verify(body)
      if (!underWay.delete((JSON.parse(body) as { flow: string }).flow)) throw new Error('no such sign-in')
      return json(await complete(session, 'oauth2', JSON.stringify(planted.tokens)))
    },
    'POST /connect/browser/start': async (body) => {
      await verify(body)
      signedIn = false
      return json({ liveViewUrl: `${origin}/live`, expiresAt: new Date(Date.now() + 60_000).toISOString() })
    },
    'GET /live': async () => html('<a href="/live/signed-in">Sign in to the site</a>'),
    'GET /live/signed-in': async () => {
      signedIn = true
      return html('You are signed in.')
    },
    'POST /connect/browser/finish': async (body) => {
      const session = await verify(body)
      if (!signedIn) return json({ error: { code: 'conflict', message: 'nobody is signed in' } }, 409)
      return json(await complete(session, 'session', JSON.stringify(planted.session)))
    },
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', origin)
    const body = await bodyOf(request)
    if (body) received.push(body)
    const cors = request.headers.origin === pageOrigin ? corsOf(pageOrigin) : {}
    const isOfPage = url.pathname.startsWith('/connect/') || ['/provider', '/live'].includes(url.pathname)
    if (isOfPage && (request.headers.cookie || request.headers.referer))
      complaints.push(`${url.pathname}: a cookie or a referrer`)
    if (request.method === 'OPTIONS') return send(response, { status: 204, headers: cors })
    const answer = answers[`${request.method} ${url.pathname}`]
    // Browsers ask every site for its icon.
    if (!answer && url.pathname !== '/favicon.ico') complaints.push(`${request.method} ${url.pathname}`)
    const reply = await answer?.(body, url).catch((error: Error) =>
      json({ error: { code: 'conflict', message: error.message } }, 409),
    )
    send(response, { ...(reply ?? { status: 404 }), headers: { ...cors, ...reply?.headers } })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`

  return {
    origin,
    thumbprint: own.key.thumbprint,
    complaints,
    received,
    async register(code, catalog) {
      const body = { ...registration(code, own.key), origin, catalog }
      as = `Bearer ${(await sent(world, vaultExecutor.register, { body })).credential}`
    },
    async read(vaultConnectionId, slot) {
      const { credential } = await sent(world, vaultExecutor.release, { as, params: { vaultConnectionId, slot } })
      return openCredential(credential, credential as VaultPlace, own.privateKey)
    },
    async swapKey() {
      // It has the thumbprint of the true key, so the page must compute the thumbprint itself.
      presented = { ...(await newKey()).key, thumbprint: own.key.thumbprint }
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function newKey() {
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  const thumbprint = await fingerprint(publicKeyJwk)
  return { privateKey, publicKeyJwk, key: { jwk: JSON.parse(publicKeyJwk) as object, thumbprint } }
}

interface Reply {
  status: number
  headers?: Record<string, string>
  body?: string
}

const json = (body: object, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

const html = (body: string): Reply => ({
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: `<!doctype html><html lang="en"><title>Elsewhere</title><body>${body}</body></html>`,
})

const corsOf = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-allow-headers': 'content-type',
  'access-control-allow-methods': 'GET, POST',
})

function send(response: ServerResponse, { status, headers = {}, body }: Reply): void {
  response.writeHead(status, headers)
  response.end(body)
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
