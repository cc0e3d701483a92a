import { describe, expect, test } from 'vitest'
import { refusalOf, startAgentWorld, taskOf, taskToken } from '../test/agents.ts'
import { curl } from '../test/curl.ts'
import { startUpstream } from '../test/world.ts'

describe('the policy of the server', () => {
  test('decides about requests, and a newer policy decides after the next refresh', async () => {
    const { ask, shows, refresh, rules } = await startAgentWorld()
    expect([await ask(), await ask('MISSING'), await ask('OTHER', undefined, '/api/v2')]).toEqual([
      200,
      'denied',
      'path_not_allowed',
    ])
    await shows({ policyVersion: 2, rules: [{ ...rules[0], allow: ['OTHER'] }] })
    expect(await ask()).toBe(200)
    await refresh()
    expect([await ask(), await ask('OTHER')]).toEqual(['denied', 200])
  })

  test('permits nothing once it has expired, even while the server fails', async () => {
    const { ask, clock, server, refresh } = await startAgentWorld()
    server.on('agents.policy', () => refusalOf(500, 'internal'))
    await refresh()
    expect(await ask()).toBe(200)
    clock.ms += 3_600_000
    expect(await ask()).toBe('policy_unavailable')
  })

  test('ends with a revoked token at the next refresh, whether the policy or the secrets are refused', async () => {
    const { ask, server, shows, refresh, secrets } = await startAgentWorld()
    server.on('agents.policy', () => refusalOf(401, 'unauthorized'))
    await refresh()
    expect(await ask()).toBe('policy_unavailable')
    await shows()
    await refresh()
    expect(await ask()).toBe(200)
    secrets.resolve = () => Promise.reject(new Error('refused'))
    await refresh()
    expect(await ask()).toBe('policy_unavailable')
  })

  test.each([
    [
      403,
      'forbidden',
      'the server no longer sends the policy: the agent was disabled, or the proxy’s token is for another environment',
    ],
    [404, 'not_found', 'the agent or its policy was deleted'],
  ])(
    'is not in force after the server answers %d for the agent, until the server provides it again',
    async (status, code, why) => {
      const { ask, server, shows, refresh, reverse } = await startAgentWorld()
      expect(await ask()).toBe(200)
      server.on('agents.policy', () => refusalOf(status, code))
      await refresh()
      expect(await ask()).toBe('policy_unavailable')
      expect(await (await fetch(`${reverse}/api/v1/x`)).text()).toContain(why)
      await shows()
      await refresh()
      expect(await ask()).toBe(200)
    },
  )

  test('fills placeholders only in the places that the settings of the proxy allow', async () => {
    const { ask, reverse } = await startAgentWorld('in = ["query"]\n')
    expect(await ask()).toBe('denied')
    expect((await fetch(`${reverse}/api/v1/x?k={{skerry:API_KEY}}`)).status).toBe(200)
  })

  test('must be available before the proxy starts', async () => {
    await expect(startAgentWorld('[policy]')).rejects.toThrow()
    const { deps } = await startAgentWorld()
    const { startWorld } = await import('../test/world.ts')
    const unusable = { refresh: () => Promise.reject(new Error('none published')), current: () => undefined }
    const toml = `[[route]]\nprefix = "/"\nupstream = "http://x"\n[policy]\nsource = "server"\nagent = "b"\nsigners = ["${'k'.repeat(43)}"]`
    await expect(startWorld(toml, {}, { ...deps, sources: new Map([['b', unusable]]) })).rejects.toThrow(
      'none published',
    )
  })
})

describe('a task', () => {
  test('narrows the policy, is checked once per cache time, and permits nothing once it is revoked', async () => {
    const { ask, server, clock } = await startAgentWorld('[tasks]\ncache_ttl = 30')
    server.on('tasks.introspect', () => ({ json: taskOf(['API_KEY']) }))
    const asked = () => server.requests.filter(({ line }) => line.startsWith('POST /v1/tasks')).length
    expect([await ask('API_KEY', taskToken), await ask('OTHER', taskToken), asked()]).toEqual([200, 'denied', 1])
    server.on('tasks.introspect', () => refusalOf(403, 'forbidden'))
    clock.ms += 29_999
    expect([await ask('API_KEY', taskToken), asked()]).toEqual([200, 1])
    clock.ms += 1
    expect([await ask('API_KEY', taskToken), await ask('API_KEY', taskToken), asked()]).toEqual([
      'policy_unavailable',
      'policy_unavailable',
      2,
    ])
  })

  test('is refused while the server fails, and always if it belongs to another agent', async () => {
    const { ask, server, clock } = await startAgentWorld('[tasks]')
    server.on('tasks.introspect', () => refusalOf(500, 'internal'))
    expect(await ask('API_KEY', taskToken)).toBe('policy_unavailable')
    server.on('tasks.introspect', () => ({ json: taskOf(null, 'other') }))
    clock.ms += 5000
    expect(await ask('API_KEY', taskToken)).toBe('policy_unavailable')
    server.on('tasks.introspect', () => ({ json: taskOf(null) }))
    clock.ms += 5000
    expect(await ask('API_KEY', taskToken)).toBe(200)
  })

  test('without secrets gets none, and its token is sent to no upstream', async () => {
    const { ask, server, upstream, reverse } = await startAgentWorld('[tasks]')
    server.on('tasks.introspect', () => ({ json: taskOf([]) }))
    expect(await ask('API_KEY', taskToken)).toBe('denied')
    await fetch(`${reverse}/api/v1/x`, { headers: { 'x-skerry-ticket': taskToken } })
    expect(JSON.stringify(upstream.got)).not.toContain('skd_')
    expect(upstream.got).toHaveLength(1)
  })
})

const ratchet = `[ratchet]
[[ratchet.state]]
name = "tainted"
secrets = []
[[ratchet.transition]]
host = "127.0.0.1"
paths = ["/v1/taint"]
to = "tainted"
`

describe('a program that leaves its ticket out', () => {
  test('is refused if tasks are required, and gets back nothing that the ratchet has withdrawn', async () => {
    const { ask, server } = await startAgentWorld(`[tasks]\n${ratchet}`)
    server.on('tasks.introspect', () => ({ json: taskOf(['API_KEY']) }))
    expect(await ask('API_KEY', taskToken, '/api/v1/taint')).toBe(200)
    expect([await ask('API_KEY', taskToken), await ask('API_KEY')]).toEqual(['ratchet_withdrawn', 'policy_unavailable'])
  })

  test('acts as the first agent if the settings require no task', async () => {
    const { ask } = await startAgentWorld('[tasks]', { before: 'require_task = false\n' })
    expect(await ask()).toBe(200)
  })

  test('acts under the task of its listener, and is refused with another task', async () => {
    const { ask, server, clock } = await startAgentWorld(`[tasks]\n${ratchet}`, {
      task: taskToken,
      first: ({ on }) => on('tasks.introspect', () => ({ json: taskOf(['API_KEY']) })),
    })
    expect([await ask('API_KEY'), await ask('OTHER'), await ask('API_KEY', taskToken)]).toEqual([200, 'denied', 200])
    const other = taskToken.replace('T', 'U')
    expect([await ask('API_KEY', other), await ask('API_KEY', 'skp_x')]).toEqual(Array(2).fill('policy_unavailable'))
    await ask('API_KEY', undefined, '/api/v1/taint')
    expect([await ask('API_KEY'), await ask('API_KEY', taskToken)]).toEqual(Array(2).fill('ratchet_withdrawn'))
    server.on('tasks.introspect', () => refusalOf(403, 'forbidden'))
    clock.ms += 30_000
    expect(await ask('API_KEY')).toBe('policy_unavailable')
  })

  test.each([
    ['without CONNECT', []],
    ['send this proxy an absolute http:// address, or CONNECT for https://', ['--proxytunnel']],
  ])(
    'reaches a route at the address of the settings %s, although the listener of its task has another port',
    async (_, way) => {
      const other = await startUpstream()
      const { upstream, ...world } = await startAgentWorld('[tasks]\n[forward]\nlisten = "127.0.0.1:0"\n', {
        before: `listen = "127.0.0.1:${other.port}"\n`,
        task: taskToken,
        first: ({ on }) => on('tasks.introspect', () => ({ json: taskOf(['API_KEY']) })),
      })
      expect(new URL(world.reverse!).port).not.toBe(`${other.port}`)
      await curl(world, ...way, `http://127.0.0.1:${other.port}/api/v1/x`, '-H', 'A: {{skerry:API_KEY}}')
      expect(upstream.got.map(({ url, headers }) => [url, headers.a])).toEqual([['/v1/x', 'sk-live-0123456789']])
      expect(other.got).toEqual([])
    },
  )

  test('gets no proxy for a task that has ended', async () => {
    const started = startAgentWorld('[tasks]', {
      task: taskToken,
      first: ({ on }) => on('tasks.introspect', () => refusalOf(403, 'forbidden')),
    })
    await expect(started).rejects.toThrow('the task is unknown or has ended')
  })
})

describe('an activity report', () => {
  test('counts requests by host, method, decision and rule, with names of secrets and without paths', async () => {
    const { ask, server, flush } = await startAgentWorld('[activity]\nflush_interval = "1h"')
    server.on('tasks.report', ({ body }) => ({ json: { accepted: (body as { entries: unknown[] }).entries.length } }))
    await ask()
    await ask()
    await ask('MISSING')
    await ask('OTHER', undefined, '/api/v2/private')
    await flush()
    await flush()
    const reports = server.requests.filter(({ line }) => line === 'POST /v1/agents/builder/activity')
    expect(reports).toHaveLength(1)
    const place = { host: '127.0.0.1', method: 'GET' }
    expect(reports[0]!.body).toMatchObject({
      policyVersion: 1,
      entries: [
        { ...place, decision: 'allow', ruleIndex: 0, count: 2, secrets: { API_KEY: 2 } },
        { ...place, decision: 'secret_not_allowed', ruleIndex: 0, count: 1, secrets: { MISSING: 1 } },
        { ...place, decision: 'path_not_allowed', ruleIndex: null, count: 1 },
      ],
    })
    expect(JSON.stringify(reports[0]!.body)).not.toMatch(/private|sk-live|"secrets":\{\}/)
  })

  test('names the secrets that came back, and warns only once if the server does not count redactions', async () => {
    const { ask, server, flush, warnings } = await startAgentWorld('[activity]\nflush_interval = "1h"')
    const entries = () =>
      server.requests
        .filter(({ line }) => line === 'POST /v1/agents/builder/activity')
        .map(({ body }) => (body as { entries: object[] }).entries)
    server.on('tasks.report', () => ({ json: { accepted: 1 } }))
    await ask()
    await flush()
    const cell = {
      host: '127.0.0.1',
      method: 'GET',
      decision: 'allow',
      ruleIndex: 0,
      count: 1,
      secrets: { API_KEY: 1 },
    }
    expect(entries()).toEqual([[{ ...cell, redactions: { API_KEY: 2 } }]])
    server.on('tasks.report', ({ body }) =>
      JSON.stringify(body).includes('redactions') ? refusalOf(400, 'invalid_request') : { json: { accepted: 1 } },
    )
    for (const _ of [1, 2]) {
      await ask()
      await flush()
    }
    expect(entries().slice(2)).toEqual([[cell], [cell]])
    expect(warnings.filter((one) => one.startsWith('activity:'))).toEqual([
      'activity: this server cannot count redactions, so reports no longer contain them',
    ])
  })

  test('has at most the configured number of cells, and a warning counts the other requests', async () => {
    const { ask, server, flush, warnings } = await startAgentWorld('[activity]\nflush_interval = "1h"\nmax_cells = 1')
    server.on('tasks.report', () => ({ json: { accepted: 1 } }))
    await ask()
    await ask('MISSING')
    await flush()
    expect(warnings.join()).toContain('1 requests are missing from the report')
  })

  test('is dropped if it cannot be sent, and requests still pass', async () => {
    const { ask, server, flush, warnings } = await startAgentWorld('[activity]\nflush_interval = "1h"')
    server.on('tasks.report', () => refusalOf(500, 'internal'))
    await ask()
    await flush()
    expect([await ask(), warnings.some((one) => one.includes('activity: a report was not sent:'))]).toEqual([200, true])
  })
})
