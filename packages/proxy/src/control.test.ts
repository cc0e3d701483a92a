import { describe, expect, test } from 'vitest'
import { startAgentWorld } from '../test/agents.ts'
import { run } from '../test/curl.ts'
import { startUpstream, startWorld } from '../test/world.ts'

const listening = '[control]\nlisten = "127.0.0.1:0"\n'

describe('a ticket', () => {
  test('narrows the policy, expires after its time, and ends when it is revoked', async () => {
    const { ask, control, clock } = await startAgentWorld(listening)
    const mint = async (wish: object) => (await control('/session', wish)).json() as Promise<{ ticket: string }>
    const { ticket, ...more } = await mint({ scopes: ['OTHER'], ttl: '15m' })
    expect(more).toEqual({ agent: 'builder', expires_in_seconds: 900, header: 'x-seekrit-ticket' })
    expect([await ask('OTHER', ticket), await ask('API_KEY', ticket)]).toEqual([200, 'denied'])
    clock.ms += 900_000
    expect(await ask('OTHER', ticket)).toBe('policy_unavailable')
    expect(await mint({ ttl: '30d' })).toMatchObject({ expires_in_seconds: 43_200 })
    const { ticket: second } = await mint({})
    expect(await ask('API_KEY', second)).toBe(200)
    expect(await (await control('/session/revoke', { ticket: second })).json()).toEqual({ revoked: true })
    expect(await (await control('/session/revoke', { ticket: second })).json()).toEqual({ revoked: false })
    expect(await ask('API_KEY', second)).toBe('policy_unavailable')
    expect(await (await control('/health')).json()).toEqual({ ok: true, tickets: 1 })
  })

  test.each([
    [{ agent: 'other' }],
    [{ agent: 1 }],
    [{ scopes: 'API_KEY' }],
    [{ ttl: 'soon' }],
    [{ ttl: 0 }],
    [{ admin: true }],
  ])('is refused for the request %j', async (wish) => {
    const { control } = await startAgentWorld(listening)
    expect((await control('/session', wish)).status).toBe(400)
  })
})

test('a path that an upstream could read as another one waits for the approval of that other path', async () => {
  const upstream = await startUpstream()
  const rule = 'host = "127.0.0.1"\npaths = ["/admin/**"]'
  const toml = `[[route]]\nprefix = "/"\nupstream = "${upstream.origin}"\n${listening}[approval]\n[[approval.require]]\n${rule}`
  const { reverse, approvals } = await startWorld(toml)
  expect((await fetch(`${reverse}/public`)).status).toBe(200)
  const asked = fetch(`${reverse}/public/..;/admin/x`)
  await expect.poll(() => approvals!.pending().map(({ path }) => path)).toEqual(['/public/..;/admin/x'])
  approvals!.settle(approvals!.pending()[0]!.id, 'deny')
  expect((await asked).status).toBe(403)
})

describe('the control listener', () => {
  test('refuses a request with an empty or wrong token', async () => {
    const { control } = await startAgentWorld(listening)
    for (const token of ['', 'control-toke', 'control-token2'])
      expect((await control('/session', {}, token)).status).toBe(401)
    expect((await control('/nothing')).status).toBe(404)
    expect((await control('/approvals/apr_00000000', { decision: 'approve' })).status).toBe(404)
  })

  test('does not start without a token', async () => {
    await expect(
      startWorld(`[[route]]\nprefix = "/"\nupstream = "http://x"\n${listening}`, {}, { controlToken: undefined }),
    ).rejects.toThrow('needs a token')
  })

  test('refuses requests under another host name or origin, and serves its own page', async () => {
    const { control: origin } = await startWorld(`[[route]]\nprefix = "/"\nupstream = "http://x"\n${listening}`)
    const ask = (...headers: string[]) =>
      run('curl', ['-sS', '-i', ...headers.flatMap((one) => ['-H', one]), `${origin}/`])
    expect((await ask('Host: evil.example')).stdout).toMatch(/^HTTP\/1\.1 403 /)
    expect((await ask('Origin: http://evil.example')).stdout).toMatch(/^HTTP\/1\.1 403 /)
    expect((await ask()).stdout).toMatch(/^HTTP\/1\.1 200 [\s\S]*content-security-policy: default-src 'none'/)
  })

  test.skipIf(process.getuid?.() !== 0)('on a socket file accepts no other user', async () => {
    const { control } = await startWorld(
      `[[route]]\nprefix = "/"\nupstream = "http://x"\n[control]\nsocket = "/tmp/skerry-${process.pid}.sock"`,
      {},
      { controlToken: undefined },
    )
    const ask = (uid: number) =>
      run('curl', ['-sS', '--unix-socket', control!, 'http://localhost/health'], { uid, cwd: '/' })
    expect((await ask(0)).stdout).toBe('{"ok":true,"tickets":0}')
    expect((await ask(65_534)).code).not.toBe(0)
  })
})

describe('approvals', () => {
  const asking = `${listening}[approval]\n[[approval.require]]\nhost = "127.0.0.1"\nmethods = ["GET"]\n`

  /** Waits until a request needs approval. */
  const held = async (control: (path: string) => Promise<Response>) => {
    const pending = async () => ((await (await control('/approvals')).json()) as { pending: { id: string }[] }).pending
    await expect.poll(async () => (await pending()).length).toBe(1)
    return (await pending())[0]!
  }

  test('delay a request until a person decides, and "always" approves later requests of its kind', async () => {
    const { ask, control, upstream } = await startAgentWorld(asking)
    const first = ask()
    const waiting = await held(control)
    expect(waiting).toMatchObject({
      id: 'apr_00000000',
      host: '127.0.0.1',
      method: 'GET',
      path: '/v1/x',
      secrets: ['API_KEY'],
    })
    expect(JSON.stringify(waiting)).not.toContain('sk-live')
    expect(upstream.got).toEqual([])
    expect((await control(`/approvals/${waiting.id}`, { decision: 'maybe' })).status).toBe(400)
    await control(`/approvals/${waiting.id}`, { decision: 'approve' })
    expect(await first).toBe(200)
    const second = ask()
    await control(`/approvals/${(await held(control)).id}`, { decision: 'deny' })
    expect(await second).toBe('approval')
    const third = ask()
    await control(`/approvals/${(await held(control)).id}`, { decision: 'always' })
    expect([await third, await ask()]).toEqual([200, 200])
    expect(upstream.got).toHaveLength(3)
  })

  test('do not override a policy that changed while the request waited', async () => {
    const { ask, control, shows, refresh, upstream } = await startAgentWorld(asking)
    const first = ask()
    const { id } = await held(control)
    await shows({ policyVersion: 2, rules: [] })
    await refresh()
    await control(`/approvals/${id}`, { decision: 'approve' })
    expect([await first, upstream.got]).toEqual(['no_rule', []])
  })

  test('are asked for at the terminal, and the proxy does not start if nobody can approve', async () => {
    const upstream = await startUpstream()
    const toml = `[[route]]\nprefix = "/"\nupstream = "${upstream.origin}"\n[approval]\n[[approval.require]]\nhost = "127.0.0.1"`
    await expect(startWorld(toml)).rejects.toThrow('nobody could approve')
    const told: string[] = []
    const world = await startWorld(toml, {}, { onHeld: ({ id, operation }) => told.push(id, operation) })
    const answer = fetch(`${world.reverse}/x?secret`)
    await expect.poll(() => told.length).toBe(2)
    expect(told[1]).toBe('GET 127.0.0.1/x')
    world.approvals?.settle(told[0]!, 'approve')
    expect((await answer).status).toBe(200)
  })
})

test('a ratchet withdraws secrets and hosts from the run that moved it, and from no other run', async () => {
  const { ask, control } = await startAgentWorld(
    `${listening}[ratchet]\n[[ratchet.state]]\nname = "narrow"\nsecrets = ["OTHER"]\n[[ratchet.state]]\nname = "closed"\nhosts = []\n` +
      '[[ratchet.transition]]\nhost = "127.0.0.1"\npaths = ["/v1/export"]\nto = "narrow"\nlabel = "the export"\n' +
      '[[ratchet.transition]]\nhost = "127.0.0.1"\npaths = ["/v1/last"]\nto = "closed"\n',
  )
  const { ticket } = (await (await control('/session', {})).json()) as { ticket: string }
  expect([await ask('API_KEY', ticket), await ask('API_KEY', ticket, '/api/v1/export')]).toEqual([200, 200])
  expect([await ask('API_KEY', ticket), await ask('OTHER', ticket), await ask('API_KEY')]).toEqual([
    'ratchet_withdrawn',
    200,
    200,
  ])
  expect(await ask('OTHER', ticket, '/api/v1/last')).toBe(200)
  expect([await ask('OTHER', ticket), await ask('OTHER', ticket, '/api/v1/export')]).toEqual(
    Array(2).fill('ratchet_withdrawn'),
  )
})

test('a path that an upstream could read as another one matches no path rule of a signed policy, and moves a ratchet', async () => {
  const { ask, control, refresh, shows, rules } = await startAgentWorld(
    `${listening}[ratchet]\n[[ratchet.state]]\nname = "narrow"\nsecrets = ["OTHER"]\n` +
      '[[ratchet.transition]]\nhost = "127.0.0.1"\npaths = ["/v1/export"]\nto = "narrow"\n',
  )
  const { ticket } = (await (await control('/session', {})).json()) as { ticket: string }
  const asked = () => ask('OTHER', ticket, '/api/v1/public/..;/export')
  expect([await asked(), await ask('API_KEY', ticket)]).toEqual(['path_not_allowed', 200])
  await shows({ policyVersion: 2, rules: [{ ...rules[0], paths: [] }] })
  await refresh()
  expect(await asked()).toBe(200)
  expect(await ask('API_KEY', ticket)).toBe('ratchet_withdrawn')
})
