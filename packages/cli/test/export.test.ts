import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

let server: Server
let machine: Machine
beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Exported')
})
afterAll(async () => {
  await machine?.remove()
  await server?.close()
})

/** Exports an archive and returns the key that the command has shown. */
async function exported(path: string, ...options: string[]) {
  const { code, stdout, stderr } = await machine.shell(['skerry org export', path, ...options].join(' '))
  expect([code, stdout]).toEqual([0, ''])
  return { key: /--key ([\w-]{43})/.exec(stderr)?.[1] ?? '', stderr }
}

test('an archive is readable by its owner alone, and verifies without a server until one byte is changed', async () => {
  const { key, stderr } = await exported('whole.json')
  expect(stderr).toMatch(/exported is in whole\.json: \d+ bytes, \d+ lines/)
  expect((await machine.shell('stat -c %a whole.json')).stdout).toBe('600\n')
  const verify = `SKERRY_URL=http://127.0.0.1:1 skerry org export verify`
  const checked = await machine.shell(`${verify} whole.json --key ${key}`)
  expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('rows are unchanged')])

  const path = join(machine.project, 'whole.json')
  writeFileSync(path, readFileSync(path, 'utf8').replace('"name":"Exported"', '"name":"Exportex"'))
  const changed = await machine.shell(`${verify} whole.json --key ${key}`)
  expect([changed.code, changed.stderr]).toEqual([3, expect.stringContaining('organization, row 1')])
})

test('verify accepts a reformatted archive, and refuses one with an addition', async () => {
  const { key } = await exported('sent.json')
  const sent = JSON.parse(readFileSync(join(machine.project, 'sent.json'), 'utf8'))
  const verified = async (archive: unknown) => {
    writeFileSync(join(machine.project, 'formatted.json'), JSON.stringify(archive, null, 2))
    return await machine.shell(`skerry org export verify formatted.json --key ${key}`)
  }
  const { signature, manifest, data, format } = sent
  const sections = Object.entries(data).reverse()
  const rows = data.applications.map((row: object) => Object.fromEntries(Object.entries(row).reverse()))
  const others = { ...Object.fromEntries(sections), applications: rows }
  expect(await verified({ signature, manifest, data: others, format })).toMatchObject({ code: 0, stderr: '' })
  const added = { ...sent, data: { ...data, added: [{ id: 'x' }] } }
  expect(await verified(added)).toMatchObject({ code: 3, stderr: expect.stringContaining('added: was added') })
  expect(await verified({ ...sent, more: 1 })).toMatchObject({ code: 3 })
  const missing = { ...sent, data: { ...data, applications: undefined } }
  expect(await verified(missing)).toMatchObject({ code: 3, stderr: expect.stringContaining('is not where it was') })
  const twice = { ...sent, manifest: { ...manifest, sections: [...manifest.sections, manifest.sections[0]] } }
  expect(await verified(twice)).toMatchObject({ code: 3, stderr: expect.stringContaining('manifest') })
})

test('verify refuses the key of another server, and needs --key or --unsigned', async () => {
  await exported('other.json', '--no-audit')
  const other = await machine.shell(`skerry org export verify other.json --key ${'A'.repeat(43)}`)
  expect([other.code, other.stderr]).toEqual([3, expect.stringContaining('manifest')])
  expect(await machine.shell('skerry org export verify other.json')).toMatchObject({ code: 2 })
  const unsigned = await machine.shell('skerry export verify other.json --unsigned')
  expect([unsigned.code, unsigned.stderr]).toEqual([
    0,
    expect.stringContaining('the signature was not checked; add --key to prove who made the archive'),
  ])
})

test('a pipe gets the archive and nothing else', async () => {
  const { code, stdout } = await machine.shell('skerry org export - --audit-limit 1 2>/dev/null')
  expect(code).toBe(0)
  const { format, data } = JSON.parse(stdout)
  expect([format, data.audit.length]).toEqual(['skerry.archive.v1', 1])
})
