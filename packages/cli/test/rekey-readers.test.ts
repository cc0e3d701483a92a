import { parseToken } from '@skerry/crypto/token'
import { wrapKey } from '@skerry/crypto/wrap'
import { createClient } from '@skerry/sdk/client'
import { environmentKey } from '@skerry/sdk/secrets'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../server/src/kernel/context.ts'
import { rotatorOf } from '../../server/src/keys/keypairs.ts'
import { openWorld, type World } from '../../server/test/world.ts'
import { type Machine, signedUp } from './machine.ts'
import { ok as okOn } from './people.ts'

// The server's rotator has the key of an environment, as after a rotation was set up there.

let world: World
let machine: Machine
let orgId: string
let envId: string

const ok = (command: string): Promise<string> => okOn(machine, command)

beforeAll(async () => {
  world = await openWorld()
  machine = await signedUp(world.url, 'Readers')
  await ok('echo -n value | skerry secrets set A')
  envId = JSON.parse(await ok('skerry env show development --json')).environment.id
  const { profiles, current } = JSON.parse(await ok('cat $HOME/.config/skerry/credentials.json'))
  const { org, token } = profiles[current]
  orgId = org.id
  const { bearer, privateKey } = await parseToken(token)
  const client = createClient({ baseUrl: world.url, credential: { bearer } })
  const { bytes } = await environmentKey(client, { orgId, envId }, privateKey)
  const { db, keypairs } = world.server.context
  const wrappedDek = await wrapKey(bytes, await keypairs.publicKey(db, rotatorOf(orgId)))
  await db.rows(
    `insert into key_grants (org_id, id, environment_id, principal_type, principal_id, wrapped_dek, granted_by_type,
                             granted_by_id, created_at) values ($1, $2, $3, 'rotator', $1, $4, 'user', 'usr_1', now())`,
    [orgId, newId('keyGrant'), envId, wrappedDek],
  )
})
afterAll(async () => {
  await machine?.remove()
  await world?.close()
})

/** The value of A that the rotator can read; undefined if it has no key. */
async function readByRotator(): Promise<string | undefined> {
  const { db, keypairs } = world.server.context
  const grant = await db.row<{ wrappedDek: string }>(
    `select wrapped_dek from key_grants where environment_id = $1 and principal_type = 'rotator'`,
    [envId],
  )
  const secret = await db.row<{ ciphertext: string }>('select ciphertext from secrets where environment_id = $1', [
    envId,
  ])
  const key = grant && (await keypairs.openEnvironment(db, rotatorOf(orgId), { environmentId: envId, ...grant }))
  return key?.open('A', secret?.ciphertext as string)
}

test('a re-key warns about a reader of the server, and wraps the new key to it after --reader names it', async () => {
  const refused = await machine.shell('skerry env rekey --yes --json')
  expect(refused.code).toBe(3)
  expect(refused.stderr).toContain('the rotator of this server would get the new key of shop/development')
  expect(refused.stderr).toContain(
    '"next":"ask your team who set up the rotation, then run again with --reader rotator, or leave rotation and sync out with --drop-readers"',
  )
  expect(refused.stderr).not.toContain('skerry keys fingerprint')
  expect(refused.stderr).toContain(
    '1 reader whom this machine does not know would get the new key of shop/development:',
  )
  expect(refused.stderr).toContain(
    `the rotator of this server is a part of the server: through it, the server can read everything that the key opens
ask your team who set up the rotation, or leave rotation and sync out with --drop-readers
on the machine of that person, \`skerry rotation trust\` prints the same words
`,
  )
  const { code, stdout, stderr } = await machine.shell('skerry env rekey --yes --json --reader rotator')
  expect([code, JSON.parse(stdout).readers]).toEqual([0, [{ principalType: 'rotator', principalId: orgId }]])
  expect(stderr).toContain(
    'the rotator of this server gets the new key too: through it the server can read shop/development; --drop-readers leaves it out',
  )
  expect(await readByRotator()).toBe('value')
})

test.each(['env show development', 'env readers development', 'grant ls --env development', 'access map'])(
  'skerry %s shows the rotator by its name',
  async (command) => {
    expect(await ok(`skerry ${command}`)).toMatch(/^rotator of this server +rotator /m)
  },
)

test('a new branch gives no key to readers of the server', async () => {
  await ok('skerry branch create pr-1')
  const { db } = world.server.context
  expect(
    await db.rows(`select 1 from key_grants where environment_id <> $1 and principal_type = 'rotator'`, [envId]),
  ).toEqual([])
})

test('a re-key refuses a changed key of the rotator', async () => {
  const { db } = world.server.context
  const [kept] = await db.rows<{ publicKeyJwk: string }>('select public_key_jwk from server_keypairs')
  const { tokens } = JSON.parse(await ok('skerry token ls --json'))
  await db.rows('update server_keypairs set public_key_jwk = $1', [tokens[0].publicKeyJwk])
  const { code, stderr } = await machine.shell('skerry env rekey --yes')
  expect([code === 0, stderr.includes('has a different key than before; nothing was changed')]).toEqual([false, true])
  await db.rows('update server_keypairs set public_key_jwk = $1', [kept?.publicKeyJwk])
  expect(await readByRotator()).toBe('value')
})

test('--drop-readers leaves the rotator out, and warns that it loses the key', async () => {
  const { code, stdout, stderr } = await machine.shell('skerry env rekey --drop-readers --yes --json')
  const { readers, lost } = JSON.parse(stdout)
  expect([code, readers, lost]).toEqual([0, [], [{ principalType: 'rotator', principalId: orgId }]])
  expect(stderr).toContain('the rotator of this server loses the key')
  expect(await readByRotator()).toBeUndefined()
  expect(await ok('skerry run -- printenv A')).toBe('value\n')
})

test('a re-key does not ask about a rotator to which this machine gave the key', async () => {
  await ok('skerry env create rotated && echo -n value | skerry secrets set B --env rotated')
  await ok('skerry rotation create API_KEY --env rotated --every 1d --yes')
  const { code, stdout, stderr } = await machine.shell('skerry env rekey rotated --yes --json')
  expect([code, JSON.parse(stdout || '{}').readers], stderr).toEqual([
    0,
    [{ principalType: 'rotator', principalId: orgId }],
  ])
})

test('the advice about a rotator and a token says what to do about each', async () => {
  await ok('skerry token create ci --env rotated && rm $HOME/.config/skerry/known-readers.json')
  const { code, stderr } = await machine.shell('skerry env rekey rotated --yes')
  expect([code, stderr]).toEqual([
    3,
    expect.stringMatching(
      /compare the words of the people and tokens\. Also ask your team who set up the rotation, then run again with .*--reader ci, or leave/,
    ),
  ])
  expect(stderr).toContain('2 readers whom this machine does not know would get the new key of shop/rotated:')
  expect(stderr).toContain('for a token, run it with SKERRY_TOKEN or --profile')
  const [, words = 'none'] = /rotator of this server\n +(.+)/.exec(stderr) ?? []
  expect((await machine.shell('skerry rotation trust')).stderr).toContain(words)
})
