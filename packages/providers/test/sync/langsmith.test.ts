import { describe, expect, it } from 'vitest'
import { syncProvider } from '../../src/sync/registry.ts'
import { httpFake } from '../http-fake.ts'
import { testOutbound } from '../outbound.ts'
import { syncConformance } from './conformance.ts'
import { connection, type DeploymentFake, deploymentFake, path } from './langsmith-fake.ts'

const { describe: factsOf, open } = await syncProvider('agent-platform')

syncConformance('agent-platform', deploymentFake)

describe('LangSmith sync of a whole list:', () => {
  const push = async (fake: DeploymentFake, write: Record<string, string>, remove: string[] = []) =>
    await open(connection, testOutbound({ 'agent-platform': fake.origin })).push({
      runId: 'run_1',
      write: Object.entries(write).map(([name, value]) => ({ name, value, memo: null })),
      remove: remove.map((name) => ({ name, memo: null })),
    })

  it('a push creates one revision for any number of names, and none if nothing changes', async () => {
    const fake = await deploymentFake()
    await push(fake, { FIRST_NAME: 'one', SECOND_NAME: 'two' })
    expect(fake.revisions()).toBe(1)
    await push(fake, {}, ['NEVER_THERE'])
    expect(fake.revisions()).toBe(1)
    await fake.stop()
  })

  it('a refusal that names entries costs no revision, and without names the bad entry is found in halves', async () => {
    const fake = await deploymentFake()
    const names = { FIRST_NAME: 'one', BAD_NAME: 'two', LAST_NAME: 'three' }
    fake.refuse?.('BAD_NAME')
    const reason = 'LangSmith refused the name: BAD_NAME is reserved.'
    expect((await push(fake, names)).failed).toEqual([{ name: 'BAD_NAME', reason }])
    expect([[...fake.values().keys()], fake.revisions()]).toEqual([['FIRST_NAME', 'LAST_NAME'], 1])
    fake.refuseVaguely()
    const { written, failed } = await push(fake, names)
    expect([written.length, failed.map(({ name }) => name)]).toEqual([2, ['BAD_NAME']])
    await fake.stop()
  })

  it('nothing is written if it would erase a value that the platform does not show', async () => {
    const fake = await deploymentFake()
    fake.put('FOREIGN_NAME', 'theirs')
    for (const masked of ['', '********', 'lsv2_***abc', '[REDACTED]', '••••']) {
      fake.mask(masked)
      await expect(push(fake, { FIRST_NAME: 'one' })).rejects.toMatchObject({
        reason: 'unsupported',
        message: expect.stringContaining('FOREIGN_NAME'),
      })
    }
    expect(fake.revisions()).toBe(0)
    const session = open(connection, testOutbound({ 'agent-platform': fake.origin }))
    expect((await session.verify()).notes).toEqual([expect.stringContaining('hides 1')])
    await push(fake, { FOREIGN_NAME: 'mentioned, so nothing is lost' })
    expect(fake.revisions()).toBe(1)
    await fake.stop()
  })

  it('each region has its own host, and another host may have a path', async () => {
    const asked: string[] = []
    const outbound = testOutbound()
    const spying = {
      ...outbound,
      origin: (tag: string, own: string) => {
        asked.push(own)
        return outbound.origin(tag, own)
      },
    }
    const seen: string[] = []
    const server = await httpFake((request) => {
      seen.push(request.path)
      return { status: 200, body: { secrets: [] } }
    })
    for (const region of ['us', 'eu', 'apac', 'aws-us'] as const)
      open({ ...connection, config: { provider: 'agent-platform', region } }, spying)
    expect(asked.map((origin) => new URL(origin).hostname.split('.')[0])).toEqual(['api', 'eu', 'apac', 'aws'])
    const baseUrl = 'https://smith.example.com/api-host'
    const own = { ...connection, config: { provider: 'agent-platform', baseUrl } } as const
    await open(own, testOutbound({ 'agent-platform': server.origin })).list()
    expect(seen).toEqual([`/api-host${path}`])
    expect(factsOf(own).limits.name.reserved).not.toContain('PATH')
    expect(() => factsOf({ ...own, config: { ...own.config, region: 'eu' } })).toThrow(/not together with a region/)
    await server.stop()
  })
})
