import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { publicKeyJwk } from '../../../packages/server/test/blobs.ts'
import { type Child, startServer } from '../child.ts'
import type { Bench } from '../figure.ts'
import { compare } from '../measure.ts'
import { call, makeTenant, newBearer, request, type Tenant, usualSecrets } from '../tenant.ts'

const streamCount = 1000
const perCaller = 8

/** More connections than one address may have by default. */
const settings = { SKERRY_CONNECTIONS_PER_ADDRESS: '5000' }

export async function liveMemory({ plan }: Bench): Promise<number> {
  await using server = await startServer(settings)
  const tenant = await makeTenant(server.url, usualSecrets)
  const bearers = await newBearers(server, tenant)
  await sleep(plan.idleMs)
  const beforeMb = await server.residentMb()
  await using streams = await openStreams(server, tenant, bearers)
  await change(server, tenant)
  await streams.all('app.created')
  await sleep(plan.idleMs)
  return (await server.residentMb()) - beforeMb
}

export async function liveDelay(): Promise<number> {
  await using server = await startServer(settings)
  const tenant = await makeTenant(server.url, usualSecrets)
  await using streams = await openStreams(server, tenant, await newBearers(server, tenant))
  const beganAt = performance.now()
  await Promise.all([change(server, tenant), streams.all('app.created')])
  return (performance.now() - beganAt) / 1000
}

export async function liveResolve(bench: Bench): Promise<number> {
  await using watched = await startServer(settings)
  await using alone = await startServer(settings)
  const tenant = await makeTenant(watched.url, usualSecrets)
  const other = await makeTenant(alone.url, usualSecrets)
  await using _streams = await openStreams(watched, tenant, await newBearers(watched, tenant))
  const resolveOf = ({ environmentId, member }: Tenant) => [
    request('GET', `/v1/resolve?env=${environmentId}`, member.bearer),
  ]
  const { perSecond } = await compare(
    bench,
    { name: `with ${streamCount} streams`, requests: resolveOf(tenant), server: watched },
    { name: 'without streams', requests: resolveOf(other), server: alone },
  )
  return perSecond
}

const change = ({ url }: Child, { orgId, admin }: Tenant) =>
  call(url, 'POST', `/v1/orgs/${orgId}/apps`, `Bearer ${admin.bearer}`, { name: 'Changed', slug: 'changed' })

/** A token may have a few streams only, so many tokens open them. */
async function newBearers({ url }: Child, { orgId, admin }: Tenant): Promise<string[]> {
  const bearers: string[] = []
  while (bearers.length < streamCount / perCaller) {
    const { id, bearer, hash } = newBearer()
    const body = { name: 'stream', tokenId: id, tokenHash: hash, publicKeyJwk: publicKeyJwk(), role: 'member' }
    await call(url, 'POST', `/v1/orgs/${orgId}/tokens`, `Bearer ${admin.bearer}`, body)
    bearers.push(bearer)
  }
  return bearers
}

interface Streams extends AsyncDisposable {
  /** Resolves when every stream has received the text. */
  all(text: string): Promise<void>
}

async function openStreams({ port }: Child, { orgId }: Tenant, bearers: readonly string[]): Promise<Streams> {
  const sockets: Socket[] = []
  const received: string[] = []
  const waiting = new Set<() => void>()
  for (let at = 0; at < streamCount; at++) {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    received.push('')
    socket.setEncoding('latin1').on('data', (text: string) => {
      received[at] += text
      for (const look of waiting) look()
    })
    socket.on('error', () => {})
    socket.write(request('GET', `/v1/orgs/${orgId}/events`, bearers[at % bearers.length] as string))
  }
  const all = (text: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!received.every((one) => one.includes(text))) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  await all('event: hello')
  return {
    all,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
    },
  }
}
