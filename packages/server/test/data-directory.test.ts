import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signIn } from '@skerry/contract/sign-in/endpoints'
import { expect, onTestFinished, test } from 'vitest'
import { startProcess } from './crash/server-process.ts'
import { builtIn, call } from './world.ts'

/** Paths in a data directory that anyone except the owner may read, write or enter, with their modes. */
async function openPaths(folder: string): Promise<string[]> {
  // PostgreSQL's own files are readable by others, but their folder is not.
  const names = (await readdir(folder, { recursive: true })).filter((name) => !name.startsWith('postgres/'))
  const modes = await Promise.all(names.map(async (name) => ({ name, mode: (await stat(join(folder, name))).mode })))
  return modes
    .filter(({ mode }) => (mode & 0o077) !== 0)
    .map(({ name, mode }) => `${name} ${(mode & 0o777).toString(8)}`)
}

test.each([
  ['a new data directory', []],
  ['a data directory of an earlier release', ['owner.lock']],
])('only the owner can access the files that a server makes in %s', async (_, earlier) => {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-modes-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const name of earlier) await writeFile(join(folder, name), '', { mode: 0o644 })
  const umask = process.umask(0o022)
  onTestFinished(() => void process.umask(umask))
  const server = await startProcess({ ...builtIn, SKERRY_DATA_DIR: folder })
  onTestFinished(async () => void (await server.stop()))
  await call(server.url, [], signIn.requestLink, { body: { email: 'ada@example.com' } })
  const names = await readdir(folder)
  expect(names).toEqual(
    expect.arrayContaining(['owner.json', 'owner.lock', 'owner.lock-journal', 'postgres', 'server.key']),
  )
  expect(await openPaths(folder)).toEqual([])
})
