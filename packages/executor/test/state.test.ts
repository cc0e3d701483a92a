import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { stateFile } from '../src/keys/state.ts'

const folder = await mkdtemp(join(tmpdir(), 'skerry-state-'))
afterAll(() => rm(folder, { recursive: true }))

test('a state file that another process writes during a read is read or counts as absent', async () => {
  const file = stateFile<{ round: number }>(folder, 'raced.json')
  for (let round = 0; round < 20; round++) {
    await rm(file.path, { force: true })
    let isWritten = false
    const writing = file.write({ round }).then(() => {
      isWritten = true
    })
    const readers = Array.from({ length: 20 }, async () => {
      while (!isWritten) expect([undefined, round]).toContain((await file.read())?.round)
    })
    await Promise.all([writing, ...readers])
  }
})

test('a link and a folder in place of a state file are refused', async () => {
  await mkdir(join(folder, 'folder.json'))
  await symlink('elsewhere', join(folder, 'link.json'))
  for (const name of ['folder.json', 'link.json'])
    await expect(stateFile(folder, name).read()).rejects.toThrow('is a link, a folder or too large')
})
