import { describe, expect, it } from 'vitest'
import { syncProvider } from '../../src/sync/registry.ts'
import { testOutbound } from '../outbound.ts'
import { type Connection, connection, type VaultFake, vaultFake } from './claude-managed-agents-fake.ts'
import { oneByOneConformance } from './clouds.ts'

const { describe: factsOf, open } = await syncProvider('ai-agent-vaults')

oneByOneConformance('ai-agent-vaults', vaultFake)

describe('Claude Managed Agents sync, the hosts for a value:', () => {
  const to = (rules: object): Connection => ({
    ...connection,
    destination: { provider: 'ai-agent-vaults', vaultId: connection.destination.vaultId, ...rules },
  })
  const push = async (fake: VaultFake, at: Connection, names: string[]) =>
    await open(at, testOutbound({ 'ai-agent-vaults': fake.origin })).push({
      runId: 'run_1',
      write: names.map((name) => ({ name, value: `of ${name}`, memo: null })),
      remove: [],
    })

  it('both injection locations are always sent, because the service’s default is both', async () => {
    const fake = await vaultFake()
    await push(fake, connection, ['FIRST_NAME'])
    expect(fake.auth('FIRST_NAME')?.injection_location).toEqual({ header: true, body: false })
    await push(fake, to({ allowedHosts: 'unrestricted', injectionLocation: 'body' }), ['FIRST_NAME'])
    expect(fake.auth('FIRST_NAME')?.injection_location).toEqual({ header: false, body: true })
    await push(fake, to({ allowedHosts: 'unrestricted', injectionLocation: 'both' }), ['FIRST_NAME'])
    expect(fake.auth('FIRST_NAME')?.injection_location).toEqual({ header: true, body: true })
    await fake.stop()
  })

  it('a name has its own hosts or those for all names, and fails if it has neither', async () => {
    const fake = await vaultFake()
    const at = to({ allowedHostsByName: { FIRST_NAME: ['10.0.0.1'], SECOND_NAME: ['unrestricted'] } })
    const outcome = await push(fake, at, ['FIRST_NAME', 'SECOND_NAME', 'constructor'])
    expect(outcome.failed).toEqual([{ name: 'constructor', reason: expect.stringMatching(/neither/i) }])
    expect(fake.auth('FIRST_NAME')?.networking).toEqual({ type: 'limited', allowed_hosts: ['10.0.0.1'] })
    expect(fake.auth('SECOND_NAME')?.networking).toEqual({ type: 'unrestricted' })
    expect(fake.values().has('constructor')).toBe(false)
    await fake.stop()
  })

  it('missing hosts, invalid hosts, and hosts beside unrestricted are refused', () => {
    for (const bad of [
      {},
      { allowedHostsByName: {} },
      { allowedHosts: [] },
      { allowedHosts: ['unrestricted', 'example.com'] },
      { allowedHosts: ['https://example.com'] },
      { allowedHosts: ['example.com:443'] },
      { allowedHosts: ['a.*.example.com'] },
      { allowedHosts: ['::1'] },
      { allowedHosts: Array.from({ length: 17 }, (_, index) => `h${index}.example.com`) },
    ])
      expect(() => factsOf(to(bad)), JSON.stringify(bad)).toThrow(/^(?:destination\/)?allowedHosts/)
  })

  it('a change of rules is no change of place, so the ledger is kept', () => {
    expect(factsOf(to({ allowedHosts: ['b.example'] })).places).toEqual(factsOf(connection).places)
    expect(factsOf(to({ allowedHosts: ['b.example'] })).rules).not.toEqual(factsOf(connection).rules)
  })

  it('names above the limit of the vault fail before anything is sent for them', async () => {
    const fake = await vaultFake()
    fake.crowd(19)
    const outcome = await push(fake, connection, ['FIRST_NAME', 'SECOND_NAME'])
    expect(outcome.written.map(({ name }) => name)).toEqual(['FIRST_NAME'])
    expect(outcome.failed).toEqual([{ name: 'SECOND_NAME', reason: expect.stringContaining('at most 20') }])
    expect(fake.writes()).toBe(1)
    await fake.stop()
  })

  it('an archived vault is reported as missing', async () => {
    const fake = await vaultFake()
    fake.archive()
    const session = open(connection, testOutbound({ 'ai-agent-vaults': fake.origin }))
    await expect(session.verify()).rejects.toMatchObject({ reason: 'missing' })
    await fake.stop()
  })
})
