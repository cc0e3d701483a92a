import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signCheckpoint } from '../../server/src/features/audit-proof/note.ts'
import { isQuick } from '../../server/test/extent.ts'
import { type Json, openLiar } from './hostile/liar.ts'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

let server: Server
let machine: Machine
beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Proven')
})
afterAll(async () => {
  await machine?.remove()
  await server?.close()
})

describe.skipIf(isQuick)('skerry audit', () => {
  test('verify counts the signed entries, and the next run continues from there', async () => {
    // The server seals by itself, within a minute of its start.
    await expect
      .poll(async () => (await machine.shell('skerry audit verify')).code, { interval: 500, timeout: 300_000 })
      .toBe(0)
    const { code, stdout, stderr } = await machine.shell('skerry audit verify')
    expect([code, stdout, stderr]).toEqual([
      0,
      expect.stringMatching(/^all \d+ entries match the server’s signature\n$/),
      expect.stringContaining('they continue the log that this machine verified before'),
    ])
  }, 400_000)

  test('checkpoint --compare accepts a checkpoint of the same history and refuses a forged one', async () => {
    const same = await machine.shell('skerry audit checkpoint > note && skerry audit checkpoint --compare note')
    expect([same.code, same.stderr]).toEqual([0, expect.stringContaining('both belong to the same audit log')])
    const forged = await machine.shell(`sed '2s/.*/1/' note > forged && skerry audit checkpoint --compare forged`)
    expect([forged.code, forged.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining('the checkpoint is not signed with the server’s key'),
    ])
    expect(forged.code).not.toBe(0)
  })

  test('the log of a restored server is refused, until a person says that it was restored', async () => {
    const path = await machine.shell('find "$HOME" -path "*checkpoints*" -name "*.json"')
    const file = path.stdout.trim().split('\n').at(-1) as string
    const [origin = '', size, root = ''] = JSON.parse(readFileSync(file, 'utf8')).note.split('\n')
    const orgId = origin.slice('skerry/'.length)
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
    const signer = { keyId: '', publicKey: raw, sign: (text: string) => sign(null, Buffer.from(text), privateKey) }
    // Before the restore, the machine verified a longer log, signed with another key.
    const longer = signCheckpoint(signer, orgId, Number(size) + 100, Buffer.from(root, 'base64'))
    writeFileSync(file, JSON.stringify({ note: longer, publicKey: raw.toString('base64url') }))
    for (const command of ['audit checkpoint', 'audit verify'])
      expect(await machine.shell(`skerry ${command}`)).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(/signs with a different key than before.*verify --restored/s),
      })
    expect(await machine.shell('skerry audit verify --restored')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /accepted: the server signs with a different key.*verified this log for the first/s,
      ),
    })
    expect((await machine.shell('skerry audit verify')).stderr).toContain('they continue the log')
  })
})

test('skerry audit timeline counts the entries of each day or hour, with the filters of skerry audit', async () => {
  const { code, stdout, stderr } = await machine.shell('skerry audit timeline')
  expect(code).toBe(0)
  expect(stdout.split('\n')[0]).toMatch(/^DAY +ENTRIES +OF$/)
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\d +[1-9]\d* +#{30} .*organization 1/m)
  expect(stdout).not.toMatch(/^\d{4}-\d\d-\d\d +0\b/m)
  expect(stderr).toMatch(
    /^[1-9]\d* entries from \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d, in UTC; days without entries are left out\n$/,
  )
  const hourly = await machine.shell('skerry audit timeline --since 2h --action org.created --json')
  const { step, spans } = JSON.parse(hourly.stdout)
  const counted = (spans as { counts: { organization: number } }[]).map(({ counts }) => counts.organization)
  expect([step, counted.filter((count) => count > 0)]).toEqual(['hour', [1]])
  const refused = await machine.shell('skerry audit timeline --since 400d')
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('at most 366 days')])
})

test('skerry activity says that there is more only if there is more', async () => {
  await machine.shell('printf 1 | skerry secrets set COUNTED')
  const lines = (await machine.shell('skerry activity')).stdout.trim().split('\n').length
  expect(lines).toBeGreaterThan(1)
  const more = '--limit shows more'
  expect((await machine.shell(`skerry activity --limit ${lines}`)).stderr).not.toContain(more)
  const cut = await machine.shell(`skerry activity --limit ${lines - 1}`)
  expect([cut.stdout.trim().split('\n').length, cut.stderr]).toEqual([lines - 1, expect.stringContaining(more)])
})

test('skerry audit continues a search that the server has stopped, and says how far back it has searched', async () => {
  const liar = await openLiar(server.url)
  const searcher = await signedUp(liar.url, 'Searched')
  try {
    const stoppedAt = '2100-01-01T00:00:00.000Z'
    const nextCursor = Buffer.from(`${stoppedAt} aud_${'z'.repeat(22)}`).toString('base64url')
    const stop = (body: Json) => ({ ...body, entries: [], nextCursor, searchedUntil: stoppedAt })
    liar.lie(/\/audit\?(?!.*cursor=)/, stop)
    const { code, stdout, stderr } = await searcher.shell('skerry audit --action org.created')
    expect([code, stderr]).toEqual([0, `searched back to ${stoppedAt}, going on\n`])
    expect(stdout).toContain('org.created')
    liar.repent()
    liar.lie(/\/audit\/timeline/, (body: Json) => ({ ...body, countedUntil: stoppedAt }))
    const counted = await searcher.shell('skerry audit timeline')
    expect(counted.stderr).toContain(`counted back to ${stoppedAt}; for older entries use --until ${stoppedAt}\n`)
  } finally {
    await searcher.remove()
    await liar.close()
  }
})

test('skerry log-sink sets a sink without showing its header, tests it and removes it', async () => {
  const set = await machine.shell(
    `echo 'authorization: Bearer canary-header' | skerry log-sink set https://10.0.0.1/v1/logs --headers-file - --json`,
  )
  expect(set.code).toBe(0)
  expect(set.stdout + set.stderr).not.toContain('canary')
  const shown = await machine.shell('skerry log-sink status')
  expect(shown.stdout).toContain('authorization')
  const tried = await machine.shell('skerry log-sink test')
  expect([tried.code, tried.stderr]).toEqual([6, expect.stringContaining('SKERRY_ALLOW_PRIVATE_TARGETS')])
  expect((await machine.shell('skerry log-sink rm --yes')).code).toBe(0)
  expect((await machine.shell('skerry log-sink status')).stdout).toBe(
    'the audit log is not sent anywhere; see `skerry log-sink set`\n',
  )
})

test('skerry activity --follow writes what happened since then, and then each event once', async () => {
  await machine.shell('printf 1 | skerry secrets set BEFORE')
  const run = machine.start(['activity', '--follow', '--since', '1h'])
  await run.says('BEFORE')
  await machine.shell('printf 1 | skerry secrets set FOLLOWED')
  await run.says('FOLLOWED')
  await machine.shell('printf 1 | skerry secrets set LAST')
  await run.says('LAST')
  run.child.kill('SIGTERM')
  const { stdout, stderr } = await run.ended
  expect(stdout.match(/FOLLOWED/g)).toHaveLength(1)
  expect(stderr).toContain('press Ctrl-C to stop')
})

test('skerry activity --follow --json writes each event as one line', async () => {
  const run = machine.start(['activity', '--follow', '--since', '1h', '--json'])
  await run.says('LAST')
  run.child.kill('SIGTERM')
  const { stdout } = await run.ended
  for (const line of stdout.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ sentence: expect.any(String) })
})
