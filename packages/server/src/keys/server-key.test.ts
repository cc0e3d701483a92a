import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../config.ts'
import { loadServerKey, serverKeyOf } from './server-key.ts'

const keyOf = (byte: number) => serverKeyOf(Buffer.alloc(32, byte).toString('base64url'))
const key = keyOf(1)

describe('a sealed text', () => {
  const sealed = key.seal('totp-secret', 'usr_1', 'a secret')

  test('can be opened for the same purpose and the same row', () => {
    expect(key.open('totp-secret', 'usr_1', sealed)).toBe('a secret')
    expect(key.open('totp-secret', 'usr_1', key.seal('totp-secret', 'usr_1', ''))).toBe('')
  })

  test.each([
    ['another key', () => keyOf(2).open('totp-secret', 'usr_1', sealed)],
    ['another purpose', () => key.open('signing-key', 'usr_1', sealed)],
    ['another row', () => key.open('totp-secret', 'usr_2', sealed)],
    ['a tag cut short', () => key.open('totp-secret', 'usr_1', sealed.slice(0, -6))],
    ['nothing', () => key.open('totp-secret', 'usr_1', '')],
    ['another prefix', () => key.open('totp-secret', 'usr_1', sealed.replace('sk1', 'sk2'))],
  ])('does not open with %s', (_, open) => {
    expect(open()).toBeUndefined()
  })

  test('does not open when any character has changed', () => {
    for (let i = 0; i < sealed.length - 1; i++) {
      const other = sealed[i] === 'A' ? 'Q' : 'A'
      expect(key.open('totp-secret', 'usr_1', sealed.slice(0, i) + other + sealed.slice(i + 1))).toBeUndefined()
    }
  })

  test('differs each time, and does not reveal its content', () => {
    const all = new Set(Array.from({ length: 100 }, () => key.seal('totp-secret', 'usr_1', 'a secret')))
    expect(all.size).toBe(100)
    for (const one of all)
      expect(Buffer.from(one.split('.')[2] as string, 'base64url').toString()).not.toContain('secret')
  })

  test('opens under the previous key too, but is sealed again only under the newest key', () => {
    const both = serverKeyOf(Buffer.alloc(32, 2).toString('base64url'), Buffer.alloc(32, 1).toString('base64url'))
    expect(both.open('totp-secret', 'usr_1', sealed)).toBe('a secret')
    const resealed = both.reseal('totp-secret', 'usr_1', sealed) as string
    for (const made of [resealed, both.seal('totp-secret', 'usr_1', 'a secret')]) {
      expect(keyOf(2).open('totp-secret', 'usr_1', made)).toBe('a secret')
      expect(key.open('totp-secret', 'usr_1', made)).toBeUndefined()
      expect(both.reseal('totp-secret', 'usr_1', made)).toBeNull()
    }
    expect(both.reseal('totp-secret', 'usr_2', sealed)).toBeUndefined()
    expect(both.macs('recovery-code', 'x')).toEqual([keyOf(2).mac('recovery-code', 'x'), key.mac('recovery-code', 'x')])
    expect(key.macs('recovery-code', 'x')).toEqual([key.mac('recovery-code', 'x')])
  })

  test('a code differs for another purpose and for another key', () => {
    const codes = [key.mac('recovery-code', 'x'), key.mac('refresh-token', 'x'), keyOf(2).mac('recovery-code', 'x')]
    expect(new Set(codes).size).toBe(3)
    expect(key.mac('recovery-code', 'x')).toBe(codes[0])
  })
})

describe('the key of a server', () => {
  let dataDir: string
  const folders: string[] = []
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'skerry-key-'))
    folders.push(dataDir)
  })
  afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))
  const path = () => join(dataDir, 'server.key')
  const load = (more: Record<string, string> = {}) => loadServerKey(readConfig({ SKERRY_DATA_DIR: dataDir, ...more }))

  test('is created once next to the embedded database, and only its owner can read it', async () => {
    const first = await load()
    expect((await stat(path())).mode & 0o777).toBe(0o600)
    expect(await readFile(path(), 'utf8')).toMatch(/^[\w-]{43}\n$/)
    const sealed = first?.seal('totp-secret', 'row', 'text') as string
    expect((await load())?.open('totp-secret', 'row', sealed)).toBe('text')
  })

  test('is created once even if many processes create it together, and no other file is left', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => load()))
    expect(new Set(keys.map((one) => one?.mac('refresh-token', 'x'))).size).toBe(1)
    expect(await readdir(dataDir)).toEqual(['server.key'])
  })

  test('comes from the settings if they have one, and then no file is created', async () => {
    const set = await load({ SKERRY_SERVER_KEY: Buffer.alloc(32, 1).toString('base64url') })
    expect(set?.mac('refresh-token', 'x')).toBe(key.mac('refresh-token', 'x'))
    expect(await readdir(dataDir)).toEqual([])
  })

  test('is not generated for PostgreSQL, which several servers may share', async () => {
    expect(await load({ SKERRY_DATABASE_URL: 'postgres://localhost/skerry' })).toBeNull()
    expect(await readdir(dataDir)).toEqual([])
  })

  test('in a damaged file stops the start, and the error does not contain it', async () => {
    await writeFile(path(), 'half a ke')
    await expect(load()).rejects.toThrow('is not a server key')
    await expect(load()).rejects.not.toThrow('half')
    await chmod(path(), 0o600)
  })
})
