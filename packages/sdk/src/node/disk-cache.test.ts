import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fast, refuse, resolveWorld } from '../../test/world.ts'
import { createSkerry } from '../skerry.ts'
import { diskCache } from './disk-cache.ts'

const key = 'a'.repeat(64)
const other = 'b'.repeat(64)

async function place() {
  const root = await mkdtemp(join(tmpdir(), 'skerry-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const directory = join(root, 'deep', 'skerry')
  return { root, directory, file: join(directory, `${key}.json`), cache: diskCache({ directory }) }
}

const mode = async (path: string) => ((await lstat(path)).mode & 0o777).toString(8)

test('a copy survives the process, in a file and a directory that only the user can access', async () => {
  const { directory, file, cache } = await place()
  await cache.write(key, 'one')
  await cache.write(key, 'two')
  expect(await diskCache({ directory }).read(key)).toBe('two')
  expect([await mode(directory), await mode(file)]).toEqual(['700', '600'])
  expect(await readdir(directory)).toEqual([`${key}.json`])
})

test('the file modes do not depend on the umask', async () => {
  const { directory, file, cache } = await place()
  const before = process.umask(0)
  onTestFinished(() => void process.umask(before))
  await cache.write(key, 'one')
  expect([await mode(directory), await mode(file)]).toEqual(['700', '600'])
})

test('a missing copy is undefined, and deleting it is no error', async () => {
  const { cache } = await place()
  expect(await cache.read(key)).toBeUndefined()
  await cache.delete(key)
  await cache.write(key, 'one')
  await cache.delete(key)
  expect(await cache.read(key)).toBeUndefined()
})

test('the cache neither reads nor writes through a symbolic link', async () => {
  const { root, directory, file, cache } = await place()
  const target = join(root, 'target')
  await writeFile(target, 'theirs')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await symlink(target, file)
  expect(await cache.read(key)).toBeUndefined()
  await cache.write(key, 'ours')
  expect(await readFile(target, 'utf8')).toBe('theirs')
  expect((await lstat(file)).isFile()).toBe(true)
  expect(await cache.read(key)).toBe('ours')
})

test('the cache writes nothing to a directory that is a link, or that other users can access', async () => {
  const { root, directory, cache } = await place()
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await chmod(directory, 0o750)
  await expect(cache.write(key, 'one')).rejects.toThrow(`chmod 700 ${directory}`)
  await chmod(directory, 0o700)
  await symlink(directory, join(root, 'link'))
  await expect(diskCache({ directory: join(root, 'link') }).write(key, 'one')).rejects.toThrow('not a directory')
  expect(await readdir(directory)).toEqual([])
})

test('a directory at the path of a copy counts as no copy, and no temporary file is left behind', async () => {
  const { directory, file, cache } = await place()
  await mkdir(join(file, 'x'), { recursive: true, mode: 0o700 })
  await chmod(directory, 0o700)
  expect(await cache.read(key)).toBeUndefined()
  await expect(cache.write(key, 'one')).rejects.toThrow()
  expect(await readdir(directory)).toEqual([`${key}.json`])
})

test('the cache refuses a key that is not a plain file name', async () => {
  const { cache } = await place()
  for (const bad of ['../x', `${key}/..`, '', key.toUpperCase()]) {
    await expect(cache.read(bad)).rejects.toThrow('the name is not a cache key')
    await expect(cache.write(bad, '')).rejects.toThrow('the name is not a cache key')
    await expect(cache.delete(bad)).rejects.toThrow('the name is not a cache key')
  }
})

test('a write removes old copies and the temporary files of dead writers, but no other files', async () => {
  const { directory, file, cache } = await place()
  await cache.write(key, 'old')
  const left = join(directory, `.${key}.json.${crypto.randomUUID()}.tmp`)
  const foreign = join(directory, 'notes.txt')
  for (const path of [left, foreign]) await writeFile(path, '')
  for (const path of [file, left, foreign]) await utimes(path, 0, 0)
  await cache.write(other, 'new')
  expect((await readdir(directory)).sort()).toEqual([`${other}.json`, 'notes.txt'])
})

test('above the limit, the oldest copies are deleted', async () => {
  const { directory } = await place()
  const cache = diskCache({ directory, entriesMax: 2 })
  const keys = ['1', '2', '3'].map((digit) => digit.repeat(64))
  for (const [i, one] of keys.entries()) {
    await cache.write(one, one)
    await utimes(join(directory, `${one}.json`), 0, Date.now() / 1000 - 100 + i)
  }
  expect((await readdir(directory)).sort()).toEqual(keys.slice(1).map((one) => `${one}.json`))
})

test('concurrent writers leave one complete copy', async () => {
  const { directory, cache } = await place()
  const texts = Array.from({ length: 20 }, (_, i) => String(i).repeat(100_000))
  await Promise.all(texts.map((text) => cache.write(key, text)))
  expect(texts).toContain(await cache.read(key))
  expect(await readdir(directory)).toEqual([`${key}.json`])
})

test('without the setting `directory`, copies are where the XDG base directory specification says', async () => {
  const { root } = await place()
  vi.stubEnv('XDG_CACHE_HOME', root)
  onTestFinished(() => void vi.unstubAllEnvs())
  await diskCache().write(key, 'one')
  expect(await readdir(join(root, 'skerry'))).toEqual([`${key}.json`])
})

test('a program starts from disk while the server is down, but not after the token was revoked', async () => {
  const { directory } = await place()
  const world = await resolveWorld()
  const start = () =>
    createSkerry({
      baseUrl: world.server.baseUrl,
      token: world.reader.token,
      cache: diskCache({ directory }),
      ...fast,
    }).resolve()
  await start()
  world.answer = () => refuse(500, 'internal')
  expect(await start()).toMatchObject({ stale: true, values: { URL: 'postgres://db' } })
  world.answer = () => refuse(401, 'unauthorized')
  const [copy] = await readdir(directory)
  await expect(start()).rejects.toMatchObject({ code: 'unauthorized' })
  expect(await readdir(directory)).not.toContain(copy)
  await world.server.close()
  await expect(start()).rejects.toMatchObject({ code: 'unavailable' })
})

test('the files on disk reveal no secret, no name of a secret and no token', async () => {
  const { directory } = await place()
  const world = await resolveWorld()
  const { token, bearer } = world.reader
  await createSkerry({ baseUrl: world.server.baseUrl, token, cache: diskCache({ directory }) }).resolve()
  const [name] = await readdir(directory)
  const text = name + (await readFile(join(directory, name!), 'utf8'))
  for (const part of ['LEVEL', 'debug', 'sc1.', 'production', token, bearer, bearer.slice(-43)])
    expect(text).not.toContain(part)
})
