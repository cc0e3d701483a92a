import { fingerprint } from '@skerry/crypto/digest'
import { generateKeyPair } from '@skerry/crypto/keys'
import { policySigner, signPolicy } from '@skerry/crypto/policy'
import { createClient } from '@skerry/sdk/client'
import { createPolicySource } from '@skerry/sdk/internal/policy-source'
import { startServer } from '../../sdk/test/server.ts'
import { resolvedOf, startUpstream, startWorld } from './world.ts'

const agentId = 'agt_aaaaaaaaaaaaaaaaaaaaaa'
const org = 'org_aaaaaaaaaaaaaaaaaaaaaa'
export const taskToken = `skd_${'T'.repeat(22)}_${'s'.repeat(43)}`

/** The server's answer about a task of the agent. */
export const taskOf = (scopes: string[] | null, slug = 'builder') => ({
  session: {
    taskId: `tsk_${'a'.repeat(22)}`,
    agent: { id: slug === 'builder' ? agentId : `agt_${'b'.repeat(22)}`, slug, name: slug },
    scopes,
    policyVersion: 1,
    proofThumbprint: null,
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
  },
})

export const refusalOf = (status: number, code: string) => ({
  status,
  text: JSON.stringify({ error: { code, message: `${code} it is` } }),
})

interface Special {
  /** Settings before the first table. */
  before?: string
  /** The task to which the listeners are bound. */
  task?: string
  /** Sets the answers of the server from the start. */
  first?: (server: Awaited<ReturnType<typeof startServer>>) => void
}

/** A proxy of the agent `builder`, whose signed policy a server provides. The test controls the clock. */
export async function startAgentWorld(more = '', { before = '', task, first }: Special = {}) {
  const server = await startServer()
  first?.(server)
  const upstream = await startUpstream()
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  const pin = await fingerprint(publicKeyJwk)
  const signer = await policySigner(privateKey)
  const clock = { ms: Date.now() }
  const now = () => clock.ms
  const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: 'x' }, retry: { attempts: 1 } })
  const rules = [{ host: '127.0.0.1', methods: [], paths: ['/v1/**'], allow: ['API_KEY', 'OTHER'] }]
  const shows = async (change: object = {}) => {
    const times = { issuedAt: 1, expiresAt: Math.floor(clock.ms / 1000) + 3600 }
    const bundle = await signPolicy(
      { org, agent: agentId, agentSlug: 'builder', policyVersion: 1, rules, ...times, ...change },
      signer,
    )
    server.on('agents.policy', () => ({ text: JSON.stringify({ bundle }) }))
  }
  await shows()
  const settings = { client, principalId: 'skt_1', agent: 'builder', signers: [pin], org, now }
  const values = { API_KEY: 'sk-live-0123456789', OTHER: 'other-value-123' }
  const toml = `${before}[[route]]\nprefix = "/api"\nupstream = "${upstream.origin}"\n[policy]\nsource = "server"\nagent = "builder"\nsigners = ["${pin}"]\nrefresh_interval = "1h"\n`
  const secrets = { resolve: async () => resolvedOf(values) }
  const world = await startWorld(`${toml}${more}`, values, {
    client,
    now,
    task,
    sources: new Map([['builder', createPolicySource(settings)]]),
    resolve: () => secrets.resolve(),
  })
  const ask = async (name = 'API_KEY', ticket?: string, path = '/api/v1/x') => {
    const headers = { a: `{{skerry:${name}}}`, ...(ticket === undefined ? {} : { 'x-seekrit-ticket': ticket }) }
    const answer = await fetch(`${world.reverse}${path}`, { headers })
    await answer.arrayBuffer()
    return answer.headers.get('x-skerry-refusal') ?? answer.status
  }
  const control = (path: string, body?: object, token = 'control-token') =>
    fetch(`${world.control}${path}`, {
      headers: { 'x-seekrit-control-token': token },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    })
  return { ...world, server, upstream, clock, shows, ask, control, secrets, rules }
}
