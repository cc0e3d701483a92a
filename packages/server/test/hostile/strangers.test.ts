import { groups } from '@skerry/contract/groups/endpoints'
import { health } from '@skerry/contract/health/endpoints'
import { signup } from '@skerry/contract/signup/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test } from 'vitest'
import { nestsDeeper } from '../../src/http/nesting.ts'
import { openTenant } from '../scene.ts'

const { world, tenant } = await openTenant()

describe('JSON that is nested deeply', () => {
  const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

  test.each([lists, objects])('is refused before it is parsed, with and without a credential', async (nested) => {
    for (const levels of [33, 8000]) {
      const body = `{"orgName":${nested(levels)},"orgSlug":"x"}`
      const { status, error } = await world.call(signup.create, { body })
      expect([status, error?.message]).toEqual([400, 'body: is nested deeper than 32 levels'])
      const params = { orgId: tenant.orgId }
      const asked = await world.call(tokens.create, { as: tenant.admin.as, params, body })
      expect([asked.status, asked.error?.message]).toEqual([400, 'body: is nested deeper than 32 levels'])
    }
    expect(world.log.filter((line) => line.includes('request failed'))).toEqual([])
  })

  test('is counted only outside of strings', () => {
    const deep = (text: string) => nestsDeeper(Buffer.from(text), 2)
    expect(deep('[[1],[2],[3]]')).toBe(false)
    expect(deep('[[[1]]]')).toBe(true)
    expect(deep('["[[[[","\\"[[[[","\\\\",[1]]')).toBe(false)
    expect(deep('["\\\\",[[1]]]')).toBe(true)
    expect(deep('["\\\\\\"",[[1]]]')).toBe(true)
    expect(deep('"[[[[')).toBe(false)
  })
})

test('a proxy that is not trusted causes one log line', async () => {
  const warnings = () => world.log.filter((line) => line.includes('SKERRY_TRUSTED_PROXIES'))
  expect(warnings()).toEqual([])
  for (let n = 0; n < 3; n++) await fetch(`${world.url}/health`, { headers: { 'x-forwarded-for': '203.0.113.7' } })
  expect(warnings()).toEqual([expect.stringContaining('"proxy":"127.0.0.1"')])
  const trusting = await openTenant({ SKERRY_TRUSTED_PROXIES: 'loopback' })
  await fetch(`${trusting.world.url}/health`, { headers: { 'x-forwarded-for': '203.0.113.7' } })
  expect(trusting.world.log.filter((line) => line.includes('SKERRY_TRUSTED_PROXIES'))).toEqual([])
})

test('a full disk is reported by the error, by /ready/writes and in one log line, and writes work again when there is space', async () => {
  const { db } = world.server.context
  // On a full disk, neither a row nor the file of a new table can be written.
  await db.script(`
    create function no_room() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$;
    create trigger no_room before insert on groups for each row execute function no_room();
    create function no_file() returns event_trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$;
    create event trigger no_file on ddl_command_end when tag in ('CREATE TABLE') execute function no_file();`)
  const params = { orgId: tenant.orgId }
  const create = () => world.call(groups.create, { as: tenant.admin.as, params, body: { name: 'G', slug: 'g' } })
  expect((await world.call(health.readyWrites)).status).toBe(200)
  for (let n = 0; n < 3; n++) {
    const { status, error } = await create()
    expect([status, error?.message]).toEqual([500, 'the disk of the database is full: nothing was changed'])
  }
  for (let n = 0; n < 2; n++) {
    const writes = await world.call(health.readyWrites)
    expect([writes.status, writes.error?.message]).toEqual([503, 'not ready: the disk of the database is full'])
  }
  expect((await world.call(health.ready)).status).toBe(200)
  expect((await world.call(health.live)).status).toBe(200)
  expect(world.log.filter((line) => line.includes('disk'))).toHaveLength(1)
  expect(world.log.filter((line) => line.includes('request failed'))).toEqual([])
  await db.script(`
    drop event trigger no_file; drop function no_file;
    drop trigger no_room on groups; drop function no_room`)
  expect((await world.call(health.readyWrites)).status).toBe(200)
  expect((await create()).status).toBe(201)
})
