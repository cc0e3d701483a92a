import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { withNewFile } from '../src/files.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skerry-'))
  path = join(folder, 'secret')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('a secret is made when its file exists already, empty and for its owner alone', async () => {
  await withNewFile(path, async (write) => {
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['', 0o600])
    write('secret\n')
  })
  expect(readFileSync(path, 'utf8')).toBe('secret\n')
})

it('no secret is made for a path that cannot be written', async () => {
  const made: string[] = []
  const make = async () => void made.push('secret')
  await expect(withNewFile(join(folder, 'none', 'secret'), make)).rejects.toThrow('there is no such file or folder')
  expect(made).toEqual([])
})

it('a failure leaves no file, and a file that cannot be written any more is a failure', async () => {
  await expect(withNewFile(path, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  expect(existsSync(path)).toBe(false)
  const make = async (write: (text: string) => void) => {
    rmSync(folder, { recursive: true })
    write('secret\n')
  }
  await expect(withNewFile(path, make)).rejects.toThrow('cannot write')
})
