import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openOnce } from '../src/first-run/open-once.ts'
import { findOutbox, waitForLink } from '../src/first-run/outbox.ts'

// The link of an invitation signs somebody in. It is taken only from a mail that this user’s own server has just written.

const url = 'http://127.0.0.1:4700'
const token = (letter: string) => letter.repeat(43)

let home: string
let project: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'skerry-outbox-'))
  project = join(home, 'shop')
  await mkdir(join(home, '.skerry', 'outbox'), { recursive: true, mode: 0o700 })
  await mkdir(project)
})
afterEach(() => rm(home, { recursive: true }))

const mail = (name: string, to: string, link: string) =>
  writeFile(join(home, '.skerry', 'outbox', `${name}.eml`), `From: skerry@localhost\nTo: ${to}\n\nJoin:\n\n${link}\n`)
const link = (letter: string, base = url) => `${base}/sign-in/link#${token(letter)}`

test('the link of the new mail to the person is returned, and of no older one and no other person’s', async () => {
  await mail('1', 'ada@example.com', link('o'))
  const outbox = findOutbox(url, project)
  expect(outbox?.folder).toBe(join(home, '.skerry', 'outbox'))
  await mail('2', 'bob@example.com', link('b'))
  await mail('3', 'ada@example.com', link('a', 'http://localhost:4700'))
  expect(await waitForLink(outbox!, url, 'ada@example.com')).toBe(link('a', 'http://localhost:4700'))
})

test.each(['http://127.0.0.1:4701', 'https://evil.example'])('a link to %s is not shown', async (base) => {
  const outbox = findOutbox(url, project)
  await mail('1', 'ada@example.com', link('a', base))
  expect(await waitForLink(outbox!, url, 'ada@example.com')).toBeUndefined()
})

test('a folder that others can enter is not read, and none for a server on another machine', async () => {
  expect(findOutbox('https://skerry.example.com', project)).toBeUndefined()
  await chmod(join(home, '.skerry'), 0o755)
  expect(findOutbox(url, project)).toBeUndefined()
})

test('the browser gets an address without the link, which works once', async () => {
  let opened = ''
  let first: Response | undefined
  const came = await openOnce(link('a'), async (address) => {
    opened = address
    expect((await fetch(`${new URL(address).origin}/other`)).status).toBe(404)
    first = await fetch(address, { redirect: 'manual' })
  })
  expect(came).toBe(true)
  expect(opened).not.toContain(token('a'))
  expect([first?.status, first?.headers.get('location')]).toEqual([303, link('a')])
  await expect(fetch(opened)).rejects.toThrow('fetch failed')
})

// Only root can run a program as somebody else.
test.skipIf(process.getuid?.() !== 0)('another user of the machine does not get the link', async () => {
  await openOnce(link('a'), async (address) => {
    const stolen = await promisify(execFile)('curl', ['-si', address], { uid: 65_534, gid: 65_534 })
    expect(stolen.stdout).toMatch(/^HTTP\/1.1 404 /)
    expect((await fetch(address, { redirect: 'manual' })).status).toBe(303)
  })
})
