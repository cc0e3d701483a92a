import { me } from '@skerry/contract/me/endpoints'
import { secondFactor } from '@skerry/contract/second-factor/endpoints'
import { signIn } from '@skerry/contract/sign-in/endpoints'
import { encodeUtf8 } from '@skerry/crypto/base64url'
import { wrapKey } from '@skerry/crypto/wrap'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromOwnPage, setUp, signInByLink } from '../../test/people.ts'
import { stopSchedules, tableDump } from '../../test/state.ts'
import { signUp } from '../../test/tenant.ts'
import { totpCode } from '../../test/totp.ts'
import { builtIn, serverKey as firstKey, openWorld, start, type World } from '../../test/world.ts'
import type { Sql } from '../db/database.ts'
import { seal } from '../features/audit-proof/seal.ts'
import { brokerOf } from './keypairs.ts'
import { opensDatabase, rekey } from './rekey.ts'
import { sealed, serverKeyOf } from './server-key.ts'

const nextKey = Buffer.alloc(32, 8).toString('base64url')
const lostKey = Buffer.alloc(32, 9).toString('base64url')

describe('data that a server key has sealed', () => {
  let world: World
  let orgId: string
  beforeAll(async () => {
    world = await openWorld(builtIn)
    orgId = (await signUp(world)).orgId
    await stopSchedules(world)
  })
  afterAll(() => world.close())

  const places = () => Object.values(sealed).flatMap((place) => (place ? [place] : []))
  /** The number of key pairs: three batches and one more. */
  const rows = 31
  const batchRows = 10
  const about = (index: number) => `${orgId} sync syn_${String(index).padStart(5, '0')}`
  const fill = async (key: string) => {
    const { db } = world.server.context
    const [old, all] = [serverKeyOf(key), Array.from({ length: rows }, (_, index) => about(index))]
    await db.rows('delete from server_keypairs')
    await db.rows('delete from export_signing_keys')
    await db.rows(
      `insert into server_keypairs (org_id, purpose, owner_id, public_key_jwk, sealed_private_key, created_at)
       select $1, 'sync', split_part(given.about, ' ', 3), '{}', given.sealed, now()
         from unnest($2::text[], $3::text[]) as given(about, sealed)`,
      [orgId, all, all.map((one, index) => old.seal('keypair', one, `private ${index}`))],
    )
  }
  const opened = async (key: string) => {
    const found = await world.server.context.db.rows<{ ownerId: string; sealedPrivateKey: string }>(
      'select owner_id, sealed_private_key from server_keypairs order by owner_id',
    )
    const one = serverKeyOf(key)
    return found.filter(
      (row, index) => one.open('keypair', `${orgId} sync ${row.ownerId}`, row.sealedPrivateKey) === `private ${index}`,
    ).length
  }
  /** The database, which runs `happening` before its n-th statement. */
  const interrupted = (at: number, happening: () => Promise<void>): Sql => {
    const { db } = world.server.context
    let count = 0
    const counted = async () => {
      if (++count === at) await happening()
    }
    return {
      rows: (text, values) => counted().then(() => db.rows(text, values)),
      row: (text, values) => counted().then(() => db.row(text, values)),
      foreign: (text, values) => db.foreign(text, values),
    }
  }

  test('is listed in a table with every sealed column of the schema and its primary key', async () => {
    const { db } = world.server.context
    const columns = await db.rows<{ place: string }>(
      `select table_name || '.' || column_name as place from information_schema.columns
        where table_schema = 'public' and column_name like '%sealed%'
          -- Clients seal the descriptions of secrets.
          and table_name <> 'secret_details' order by 1`,
    )
    expect(
      places()
        .map(({ table, column }) => `${table}.${column}`)
        .sort(),
    ).toEqual(columns.map(({ place }) => place))
    for (const { table, key } of places()) {
      const primary = await db.rows<{ name: string }>(
        `select a.attname::text as name from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
          where i.indrelid = $1::regclass and i.indisprimary order by array_position(i.indkey::int2[], a.attnum)`,
        [table],
      )
      expect([table, primary.map(({ name }) => name)]).toEqual([table, key])
    }
  })

  test('is sealed again completely, and then opens only under the new key', async () => {
    await fill(firstKey)
    const both = serverKeyOf(nextKey, firstKey)
    const { db } = world.server.context
    expect(await rekey(db, both, batchRows)).toEqual({ resealed: rows, unopened: [] })
    expect([await opened(nextKey), await opened(firstKey)]).toEqual([rows, 0])
    expect(await rekey(db, both, batchRows)).toEqual({ resealed: 0, unopened: [] })
  })

  test('stays readable if rekey is interrupted at any statement, and the next run completes it', async () => {
    for (const at of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
      await fill(firstKey)
      const cut = interrupted(at, () => Promise.reject(new Error('cut')))
      await expect(rekey(cut, serverKeyOf(nextKey, firstKey), batchRows)).rejects.toThrow('cut')
      const halfway = await opened(nextKey)
      expect([at, halfway + (await opened(firstKey))]).toEqual([at, rows])
      expect((await rekey(world.server.context.db, serverKeyOf(nextKey, firstKey), batchRows)).resealed).toBe(
        rows - halfway,
      )
      expect(await opened(nextKey)).toBe(rows)
    }
  })

  test('is sealed only once if several runs work at the same time', async () => {
    await fill(firstKey)
    const run = () => rekey(world.server.context.db, serverKeyOf(nextKey, firstKey), batchRows)
    const results = await Promise.all([run(), run(), run()])
    expect(results.reduce((sum, { resealed }) => sum + resealed, 0)).toBe(rows)
    expect(await opened(nextKey)).toBe(rows)
  })

  test('is not overwritten if it has changed since it was read', async () => {
    await fill(firstKey)
    const { db } = world.server.context
    const change = async () => {
      await db.rows(`update server_keypairs set sealed_private_key = 'changed' where owner_id = 'syn_00003'`)
    }
    // There are no authenticator apps and no sessions here: the third statement reads the first key pairs, and the
    // fourth writes.
    expect((await rekey(interrupted(4, change), serverKeyOf(nextKey, firstKey), batchRows)).resealed).toBe(rows - 1)
    expect(await db.row(`select 1 from server_keypairs where sealed_private_key = 'changed'`)).toBeDefined()
  })

  test('under a lost key is left unchanged and reported', async () => {
    await fill(firstKey)
    const { db } = world.server.context
    await db.rows(`update server_keypairs set sealed_private_key = $1 where owner_id = 'syn_00017'`, [
      serverKeyOf(lostKey).seal('keypair', about(17), 'private 17'),
    ])
    expect(await rekey(db, serverKeyOf(nextKey, firstKey), batchRows)).toEqual({
      resealed: rows - 1,
      unopened: [{ table: 'server_keypairs', rows: 1 }],
    })
    expect(await opened(lostKey)).toBe(1)
  })

  test('fails the check at start if the previous key is removed too early', async () => {
    await fill(firstKey)
    const both = serverKeyOf(nextKey, firstKey)
    await expect(
      rekey(
        interrupted(5, () => Promise.reject(new Error('cut'))),
        both,
        batchRows,
      ),
    ).rejects.toThrow('cut')
    const { db } = world.server.context
    expect([await opensDatabase(db, both), await opensDatabase(db, serverKeyOf(nextKey))]).toEqual([true, false])
  })
})

// Starts a server three times on an embedded database.
test('people and clients notice no change of the server key', async () => {
  const world = await openWorld(builtIn)
  const { config } = world.server.context
  const restart = async (serverKey: string, serverKeyPrevious: string | null) => {
    const stoppedAt = world.clock.now().getTime()
    await world.server.close()
    world.server = await start({ ...config, serverKey, serverKeyPrevious }, world.log, world.clock.now)
    world.url = world.server.url
    // Sets the clock back to the stop, however long the restart took: a used cookie returns its successor for only ten
    // seconds.
    world.clock.advance((stoppedAt - world.clock.now().getTime()) / 1000)
    return world.server.context
  }
  const code = () => totpCode(begun.secret, world.clock.now())
  const stepUp = async (as: string, body: object) =>
    (await world.call(secondFactor.stepUp, { as, body: { ...body } })).status
  const first = await setUp(world)
  const orgId = (await world.call(me.get, { as: first.as })).body.orgs[0]?.id as string
  const begun = (await world.call(secondFactor.enrollTotp, { as: first.as })).body
  const { recoveryCodes } = (await world.call(secondFactor.confirmTotp, { as: first.as, body: { code: code() } })).body
  // The first signature creates the signing key. This happens here, and not when the job runs.
  await seal(world.server.context)
  const broker = brokerOf(orgId)
  const publicKey = await world.server.context.keypairs.publicKey(world.server.context.db, broker)
  const blob = await wrapKey(encodeUtf8('credential'), publicKey)

  const works = async (recoveryCode: string | undefined) => {
    world.clock.advance(901)
    const { db, keypairs } = world.server.context
    expect(Buffer.from((await keypairs.openWrapped(db, broker, blob)) as Uint8Array).toString()).toBe('credential')
    const { as } = await signInByLink(world, 'first@example.com')
    expect(await stepUp(as, { code: code() })).toBe(200)
    if (recoveryCode !== undefined) expect(await stepUp(as, { recoveryCode })).toBe(200)
    const answer = await world.call(signIn.refresh, { headers: { cookie: first.cookie, ...fromOwnPage } })
    expect(answer.status).toBe(200)
    first.cookie = (answer.headers.getSetCookie()[0] ?? '').split(';')[0] as string
    return as
  }

  await works(recoveryCodes[0])
  // With several servers, each one first gets the next key as its second key, so that it can open data of the others.
  await restart(firstKey, nextKey)
  const spent = first.cookie
  const early = await works(recoveryCodes[1])
  const swapped = await restart(nextKey, firstKey)
  // A cookie whose successor was derived from the previous key still returns that successor once more.
  expect((await world.call(me.get, { as: early })).status).toBe(200)
  const again = await world.call(signIn.refresh, { headers: { cookie: spent, ...fromOwnPage } })
  expect(again.status).toBe(200)
  const as = await works(recoveryCodes[2])
  expect(await rekey(swapped.db, serverKeyOf(nextKey, firstKey))).toMatchObject({ unopened: [] })
  await restart(nextKey, null)
  expect((await world.call(me.get, { as })).status).toBe(200)
  await works(undefined)
  for (const { where, text } of await tableDump(world))
    expect([where, /sk1\./.test(text)]).toEqual([where, /signing_keys|totp_factors|server_keypairs/.test(where)])
  await world.close()
})
