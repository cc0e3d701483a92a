import { parseToken } from '@skerry/crypto/token'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Machine, signedUp } from '../machine.ts'
import { newKeyHolder, newPersonMachine, openPeopleServer, type PeopleServer, type PersonMachine } from '../people.ts'
import { openServer } from '../server.ts'

// Strangers attack an honest server. Each test checks what is printed for them and for the people they attack.

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let server: PeopleServer
let alice: PersonMachine
let stranger: Machine

beforeAll(async () => {
  server = await openPeopleServer({ SKERRY_RATE_LIMITS: 'on', SKERRY_ENVIRONMENT_SECRETS: '3' })
  alice = await newKeyHolder(server, 'alice@example.com')
  await alice.ok('skerry keys unlock && skerry org create "Honest" && skerry init --yes --env development')
  stranger = await signedUp(server.url, 'Stranger')
})
afterAll(async () => {
  await alice.ok('skerry keys lock')
  await alice.remove()
  await stranger.remove()
  await server.close()
})

/** Sends the whole token, like a program that does not know this format. */
const present = async (token: string, path = '/v1/me') => {
  const answer = await fetch(server.url + path, { headers: { authorization: `Bearer ${token}` } })
  // The dashboard's page has another nonce each time.
  return { status: answer.status, text: (await answer.text()).replace(/ nonce="[\w-]+"/, '') }
}
const unknown = { status: 401, text: '{"error":{"code":"unauthorized","message":"unknown service token"}}' }
const trail = async (action: string) => {
  const lines = (await alice.ok(`skerry audit --json --action ${action}`)).trim().split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}

describe('an invitation by a stranger', () => {
  it('makes nobody a member, and the person sees who asks and can decline', async () => {
    const bob = await newPersonMachine(server, 'bob@example.com')
    await bob.ok('skerry org create "Own"')
    expect((await stranger.skerry(['invite', 'create', bob.email, '--role', 'admin'])).code).toBe(0)
    expect(await bob.ok('skerry org ls')).toMatch(/^SLUG.*\nown +Own +owner +\S+\n$/)
    expect(await bob.ok('skerry invite mine')).toMatch(/^stranger +Stranger +admin +a token or a machine client +/m)
    const { stderr } = await bob.shell('skerry invite decline stranger --yes; skerry invite accept stranger')
    expect(stderr).toBe(
      'declined the invitation of stranger\n' +
        'skerry: no invitation of stranger waits for you; see `skerry invite mine`\n',
    )
    expect((await stranger.skerry(['members', 'list'])).stdout).not.toContain(bob.email)
    await bob.remove()
  })

  it('is refused after too many invitations by organizations without members', async () => {
    const invite = (count: number) => stranger.skerry(['invite', 'create', `victim-${count}@example.com`])
    for (let count = 2; count <= 10; count++) expect((await invite(count)).code).toBe(0)
    const { code, stdout, stderr } = await invite(11)
    expect([code, stdout]).toEqual([6, ''])
    expect(stderr).toMatch(
      /^skerry: too many invitations by organizations without a member; try again in (?:1 hour|\d+ minutes)\n$/,
    )
  })
})

it('signing up on a server with closed sign-up is refused, and the error names the setting', async () => {
  const closed = await openServer({ SKERRY_SIGNUP: 'closed' })
  const { code, stderr } = await stranger.skerry(['signup', 'Another'], { env: { SKERRY_URL: closed.url } })
  expect([code, stderr]).toEqual([3, expect.stringContaining('SKERRY_SIGNUP=open')])
  await closed.close()
})

describe('a thief of a decoy', () => {
  it('gets the same answers as for an unknown token on every path, and the owner sees each try and one audit entry', async () => {
    const decoy = (await alice.ok('skerry honey create wiki')).trim()
    const { bearer } = await parseToken(decoy)
    const asked = await Promise.all(Array.from({ length: 20 }, () => present(decoy)))
    expect(new Set(asked.map(({ text }) => text))).toEqual(new Set([unknown.text]))
    for (const path of ['/', '/docs/', '/openapi.json', '/nowhere', '/%zz'])
      expect(await present(bearer, path)).toEqual(await present('none', path))
    const count = async () => /^hny_\w+ +\S+ +wiki +(\d+)/m.exec(await alice.ok('skerry honey ls'))?.[1]
    await expect.poll(count).toBe('25')
    expect(await trail('honey_token.tripped')).toHaveLength(1)
  })
})

describe('a token that a program sends whole', () => {
  it('is refused, and the audit log names the token to replace', async () => {
    const { stdout, stderr } = await alice.shell('skerry token create pipeline')
    expect(stderr).toContain(
      'use this token only with skerry and its SDK: another program would send the private key with it, so the server refuses the request',
    )
    for (let sent = 0; sent < 3; sent++) expect(await present(stdout.trim())).toEqual(unknown)
    await expect.poll(() => trail('token.exposed')).toMatchObject([{ metadata: { name: 'pipeline' } }])
  })
})

describe('an environment that is full', () => {
  it('accepts no more secrets, and the import says which ones it wrote', async () => {
    const { code, stderr } = await alice.shell('seq 5 | sed s/^/S/ | sed s/$/=x/ | skerry secrets import -')
    expect([code, stderr]).toEqual([3, expect.stringContaining('written: S1, S2, S3\nnot written: S4, S5\n')])
    expect(stderr).toContain('the environment holds 3 secrets, and may hold 3')
    expect((await alice.shell('echo -n changed | skerry secrets set S3')).code).toBe(0)
  })
})
