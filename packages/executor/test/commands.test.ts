import { chmod, copyFile, mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '@skerry/contract/limits'
import { vaultConnect } from '@skerry/contract/vault/connect'
import { vaultExecutor } from '@skerry/contract/vault/executor'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../../server/test/services/free-port.ts'
import { newLink, newWrappingKey, open, sent } from '../../server/test/vault-scene.ts'
import { backend, connectionOf, connectKey, openScene } from './scene.ts'
import { startUpstream } from './upstream.ts'

const scene = await openScene()
const { world, tenant, projectId, state, command } = scene
const upstream = await startUpstream()
const acme = {
  ...({ id: 'acme', method: 'api_key', displayName: 'Acme', consentSummary: 'Reads your things.' } as const),
  rules: [{ host: upstream.host }],
}
await scene.newSettings({ allowNetworks: ['127.0.0.0/8'], providers: [acme] })

const register = async (code?: string) =>
  command('register', '--server', world.url, '--code', code ?? (await scene.code()))
const disable = () =>
  sent(world, vaultProjects.disableExecutor, { as: tenant.admin.as, params: { orgId: tenant.orgId, projectId } })
const keyOf = async () => {
  const response = await fetch(`${scene.origin}/connect/identity`)
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  return (await response.json()) as { origin: string; keys: { thumbprint: string; current: boolean }[] }
}
const call = async (connectionId: string) => {
  const headers = { 'x-key': '{{skerry:API_KEY}}' }
  const request = { method: 'GET', url: `${upstream.origin}/`, headers }
  const { status } = await backend(scene, '/v1/fetch', { userRef: 'user-1', connectionId, request })
  return [status, upstream.got.at(-1)?.headers['x-key']]
}

test('a machine registers once, with a code that works once, and no other user can read its key', async () => {
  expect(await command('status')).toEqual({ code: 1, out: expect.stringContaining('this executor is not registered') })
  const code = await scene.code()
  expect(await register(`vrc_${'A'.repeat(43)}`)).toEqual({
    code: 1,
    out: expect.stringContaining('unknown registration code'),
  })
  const { code: ended, out } = await register(code)
  expect([ended, out]).toEqual([0, expect.stringContaining(projectId)])
  expect((await register()).out).toContain('this executor is already registered')
  await rm(join(state, 'registration.json'))
  expect((await register(code)).out).toContain('unknown registration code')
  expect((await stat(join(state, 'keys.json'))).mode & 0o777).toBe(0o600)
  expect((await stat(state)).mode & 0o777).toBe(0o700)
  await disable()
  expect((await register()).code).toBe(0)
  expect(await command('status')).toEqual({
    code: 0,
    out: expect.stringMatching(/active.*\nProject .*Product.*\nCatalog {2}acme\nKey .*current/s),
  })
})

test('a state folder that is open to others is refused before the code is used up', async () => {
  await disable()
  await chmod(state, 0o755)
  const code = await scene.code()
  expect(await register(code)).toEqual({ code: 1, out: expect.stringContaining(`run \`chmod 700 ${state}\``) })
  await expect(scene.start()).rejects.toThrow('other users can open')
  await chmod(state, 0o700)
  await rename(join(state, 'keys.json'), join(scene.folder, 'kept.json'))
  await symlink(join(scene.folder, 'kept.json'), join(state, 'keys.json'))
  expect((await register(code)).out).toContain('keys.json is a link')
  await rename(join(scene.folder, 'kept.json'), join(state, 'keys.json'))
  expect((await register(code)).code).toBe(0)
})

test('an executor that lost its credential registers again with its keys, but not with another key', async () => {
  const registration = join(state, 'registration.json')
  const before = JSON.parse(await readFile(registration, 'utf8'))
  await rm(registration)
  const { code, out } = await register()
  expect([code, out]).toEqual([0, expect.stringContaining(before.executorId)])
  const after = JSON.parse(await readFile(registration, 'utf8'))
  expect([after.executorId, after.credential === before.credential]).toEqual([before.executorId, false])
  expect((await world.call(vaultExecutor.me, { as: `Bearer ${before.credential}` })).status).toBe(401)
  expect((await command('status')).code).toBe(0)

  const keys = await readFile(join(state, 'keys.json'), 'utf8')
  await rm(join(state, 'keys.json'))
  await rm(registration)
  expect((await register()).out).toContain('the project has an active executor')
  await writeFile(join(state, 'keys.json'), keys)
  expect((await register()).code).toBe(0)
})

test('an expired code is refused', async () => {
  await disable()
  const code = await scene.code()
  world.clock.advance(601)
  expect(await register(code)).toEqual({ code: 1, out: expect.stringContaining('unknown registration code') })
  expect((await register()).code).toBe(0)
})

test('a rotated key is used at once, open links still work, and used credentials move to the new key', async () => {
  await scene.start()
  const connectionId = await connectKey(scene, 'acme', 'sk-before-the-rotation')
  const before = await keyOf()
  const { as } = await open(world, await newLink(world, scene, { providerId: 'acme' }))
  const { code, out } = await command('rotate-key')
  expect(code).toBe(0)
  const after = await keyOf()
  expect(after.keys.map(({ current }) => current)).toEqual([true, false])
  expect(after.keys[1]?.thumbprint).toBe(before.keys[0]?.thumbprint)
  expect(out).toContain(after.keys[0]?.thumbprint)
  const { session } = await sent(world, vaultConnect.session, { as })
  expect(session.keys.map(({ thumbprint }) => thumbprint)).toEqual(after.keys.map(({ thumbprint }) => thumbprint))
  expect(await call(connectionId)).toEqual([200, 'sk-before-the-rotation'])
  const stored = await world.server.context.db.row<object>(
    'select revision, key_thumbprint from vault_credentials where connection_id = $1 order by revision desc limit 1',
    [connectionId],
  )
  expect(stored).toEqual({ revision: 2, keyThumbprint: after.keys[0]?.thumbprint })
})

test('a lost machine is replaced with the copy of its keys, and without the keys nothing can be opened', async () => {
  const [connectionId, copy] = [
    await connectKey(scene, 'acme', 'sk-of-the-lost-machine'),
    join(scene.folder, 'copy.json'),
  ]
  await copyFile(join(state, 'keys.json'), copy)
  const keys = await keyOf()
  await rm(state, { recursive: true })
  expect(await call(connectionId)).toEqual([503, expect.anything()])
  await disable()
  await mkdir(state, { mode: 0o700 })
  await copyFile(copy, join(state, 'keys.json'))
  expect((await register()).code).toBe(0)
  const { out } = await command('status')
  for (const { thumbprint, current } of keys.keys) expect(out).toContain(`${thumbprint}${current ? ', current' : '\n'}`)
  await scene.restart()
  expect(await call(connectionId)).toEqual([200, 'sk-of-the-lost-machine'])
})

test('a connection whose key is lost needs its person, and is active again once the key is restored', async () => {
  const lost = (connectionId: string) => connectionOf(scene, connectionId)
  const fetchWith = async (connectionId: string) => {
    const request = { method: 'GET', url: `${upstream.origin}/` }
    return (await backend(scene, '/v1/fetch', { userRef: 'user-1', connectionId, request })).body.error
  }
  const reason = { status: 'reauth_required', statusReason: 'reauth_requested' }
  const [file, copy] = [join(state, 'keys.json'), join(scene.folder, 'all-keys.json')]

  // The server knows the key, but this machine has lost it.
  const first = await connectKey(scene, 'acme', 'sk-of-an-earlier-key')
  await command('rotate-key')
  await copyFile(file, copy)
  const { keys } = JSON.parse(await readFile(copy, 'utf8'))
  await writeFile(file, JSON.stringify({ keys: keys.slice(0, 1) }))
  expect(await fetchWith(first)).toMatchObject({ code: 'reauth_required', message: expect.stringContaining('the key') })
  expect(await lost(first)).toMatchObject(reason)
  expect(scene.warnings.at(-1)).toContain(`${first}: the credential is encrypted for a key that is not in keys.json`)

  // Another executor has registered without the key.
  const second = await connectKey(scene, 'acme', 'sk-of-the-key-before')
  await disable()
  await rm(state, { recursive: true })
  expect((await register()).code).toBe(0)
  await scene.restart()
  expect(await fetchWith(second)).toMatchObject({
    code: 'reauth_required',
    message: expect.stringContaining('the key'),
  })
  expect(await lost(second)).toMatchObject(reason)

  await disable()
  await copyFile(copy, file)
  expect((await register()).code).toBe(0)
  await scene.restart()
  for (const connectionId of [first, second]) {
    const { body } = await backend(scene, '/v1/reactivate', { userRef: 'user-1', connectionId })
    expect([body, await fetchWith(connectionId)]).toEqual([{ status: 'active' }, undefined])
  }
})

test('a registration that ended before the server knew all keys is completed', async () => {
  await command('rotate-key')
  const [current, earlier] = (await command('status')).out.match(/(?<=Key {6})\S{43}/g) as [string, string]
  const kept = await readFile(join(state, 'registration.json'), 'utf8')
  const { executorId } = JSON.parse(kept)
  const { db } = world.server.context
  await db.rows('delete from vault_wrapping_keys where executor_id = $1 and thumbprint = $2', [executorId, earlier])
  expect(await register('unused')).toEqual({ code: 0, out: expect.stringContaining(`more keys of ${executorId}`) })
  const { out } = await command('status')
  expect(out).toContain(`${current}, current`)
  expect(out).toContain(earlier)
  expect((await register('unused')).out).toContain('is already registered')
})

test('a disabled executor reports that to its callers, and to the person who starts it', async () => {
  const connectionId = await connectKey(scene, 'acme', 'sk-of-a-disabled-executor')
  await disable()
  const request = { method: 'GET', url: `${upstream.origin}/` }
  const { status, body } = await backend(scene, '/v1/fetch', { userRef: 'user-1', connectionId, request })
  expect([status, body.error?.message]).toEqual([503, expect.stringContaining('this executor is disabled')])
  await expect(scene.restart()).rejects.toThrow('this executor is disabled')
  expect((await register()).code).toBe(0)
  await scene.start()
})

test('an executor that is disabled while it runs writes that to its log', async () => {
  // A running executor calls the server once a minute. In this test it calls every 20 ms.
  const wait = setTimeout
  const waits = vi.spyOn(globalThis, 'setTimeout')
  waits.mockImplementation(((work: () => void, ms?: number) =>
    wait(work, ms === 60_000 ? 20 : ms)) as typeof setTimeout)
  onTestFinished(() => waits.mockRestore())
  await scene.restart()
  const before = scene.warnings.length
  await disable()
  await expect.poll(() => scene.warnings.slice(before).join()).toContain('this executor is disabled')
  waits.mockRestore()
  expect((await register()).code).toBe(0)
  await scene.restart()
})

test('a key that the server refuses is removed, and a key without an answer is kept', async () => {
  await disable()
  expect((await register()).code).toBe(0)
  const file = join(state, 'keys.json')
  const { credential, ...known } = JSON.parse(await readFile(join(state, 'registration.json'), 'utf8'))
  const before = await readFile(file, 'utf8')
  const registered = JSON.parse(before).keys.length
  const as = `Bearer ${credential}`
  for (let count = registered; count < limits.vaultWrappingKeysMax; count++)
    await sent(world, vaultExecutor.addKey, { as, body: { wrappingKey: newWrappingKey() } })
  expect(await command('rotate-key')).toEqual({
    code: 1,
    out: expect.stringContaining(`an executor has at most ${limits.vaultWrappingKeysMax} keys`),
  })
  expect(await readFile(file, 'utf8')).toBe(before)

  const away = { ...known, credential, server: `http://127.0.0.1:${await freePort()}` }
  await writeFile(join(state, 'registration.json'), JSON.stringify(away))
  expect(await command('rotate-key')).toEqual({ code: 1, out: expect.stringContaining('cannot be reached') })
  const after = JSON.parse(await readFile(file, 'utf8'))
  expect([after.keys[0], after.keys.length]).toEqual([JSON.parse(before).keys[0], registered + 1])
  await writeFile(join(state, 'registration.json'), JSON.stringify({ ...known, credential }))
})

test('settings that cannot work are refused with their field, and a damaged key file with its name', async () => {
  const wrong: [object, string][] = [
    [{ ...acme, rules: [] }, 'providers[0].rules: must not be empty'],
    [{ ...acme, rules: [{ host: '*.example.com' }] }, 'providers[0].rules[0].host: is no hostname'],
    [{ ...acme, rules: [{ host: 'a.example', paths: ['v1'] }] }, 'providers[0].rules[0].paths[0]: is no path'],
    [{ ...acme, id: 'Acme Inc' }, 'providers[0].id: must be an id of'],
    [{ ...acme, method: 'saml' }, 'providers[0].method: must be api_key or oauth2'],
    [{ ...acme, colour: 'red' }, 'providers[0].colour: there is no such setting'],
    [{ ...acme, sentAs: { header: 'X Key' } }, 'providers[0].sentAs.header: must be the name of a header'],
    [{ ...acme, sentAs: { header: 'Host' } }, 'providers[0].sentAs.header: Host cannot hold a credential'],
    [{ ...acme, sentAs: { header: 'Accept-Encoding' } }, 'sentAs.header: Accept-Encoding cannot hold a credential'],
    [{ ...acme, sentAs: { scheme: 'basic' } }, 'providers[0].sentAs.scheme: Basic also needs a user name'],
    [{ ...acme, sentAs: { scheme: 'Bearer\r\nX: y' } }, 'providers[0].sentAs.scheme: must be one word'],
    [{ ...acme, helpUrl: 'http://acme.example' }, 'providers[0].helpUrl: must be an https:// address'],
  ]
  for (const [provider, message] of wrong) {
    await scene.newSettings({ providers: [provider] as never })
    const { code, out } = await register('unused')
    expect([code, out]).toEqual([1, expect.stringContaining(message)])
  }
  const shop = {
    ...{ id: 'shop', method: 'browser', displayName: 'Shop', consentSummary: 'Orders.' },
    ...{ startUrl: 'https://shop.example/', loginUrl: 'https://shop.example/in', domains: ['shop.example'] },
    signedOutUrlPrefixes: ['https://www.shop.example/in'],
  }
  const wrongSites: [object, string][] = [
    [{ ...shop, loginUrl: 'https://evil.example/' }, 'sites[0].loginUrl: must be on one of the domains'],
    [{ ...shop, loginUrl: 'https://evilshop.example/' }, 'sites[0].loginUrl: must be on one of the domains'],
    [{ ...shop, startUrl: 'http://shop.example/' }, 'sites[0].startUrl: must be an https:// address'],
    [{ ...shop, domains: ['*.example'] }, 'sites[0].domains[0]: must be a host'],
    [{ ...shop, domainSets: ['all'] }, 'sites[0].domainSets[0]: must be one of common-cdns'],
    [{ ...shop, slots: ['login', 'login'] }, 'sites[0].slots: must not list an entry twice'],
    [{ ...shop, id: 'acme' }, 'acme is listed twice'],
  ]
  for (const [site, message] of wrongSites) {
    await scene.newSettings({ providers: [acme], sites: [site] as never })
    expect((await register('unused')).out).toContain(message)
  }
  await scene.newSettings({ providers: [acme, acme] })
  expect((await register('unused')).out).toContain('acme is listed twice')
  await disable()
  await scene.newSettings({ providers: [acme] })
  const text = await readFile(join(state, 'keys.json'), 'utf8')
  await writeFile(join(state, 'keys.json'), text.slice(0, -40))
  expect((await register()).out).toMatch(/keys\.json is damaged/)
})
