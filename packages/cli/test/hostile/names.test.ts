import { newDek } from '@skerry/crypto/secret'
import { parseToken } from '@skerry/crypto/token'
import { wrapKey } from '@skerry/crypto/wrap'
import { describe, expect, it, vi } from 'vitest'
import { forged, newEnvironmentId } from './forged.ts'
import type { Json } from './liar.ts'
import { openLiedTo } from './liar-scene.ts'

// A malicious server lies about which environment a name means, or to which one a token is bound. Each test checks what
// a person sees.

vi.setConfig({ testTimeout: 240_000 })

const { liar, alice, publicKeyJwk } = await openLiedTo('Names')
await alice.ok('skerry env create production && skerry group create shared')
await alice.ok('skerry env create development --group shared && skerry env create production --group shared')
await alice.ok('skerry compose set shared && skerry branch create pr-7')
await alice.ok(`for env in development production; do echo -n $env | skerry secrets set A --env $env; done`)
const token = (await alice.ok('skerry token create ci --app shop --env development')).trim()

const refused = async (command: string, env: Record<string, string> = {}) => {
  const { code, stdout, stderr } = await alice.shell(command, { env })
  expect([code, stdout], stderr).toEqual([3, ''])
  return stderr
}
const hint = (where: string) =>
  `the server may be lying; if someone on your team did this, accept it with \`skerry env trust${where}\`\n`
const ofApp = '--app shop --env development'

/** Swaps the names of two environments in a list. */
const swapped = (body: Json) => {
  const [one, other] = body.environments
  const others = body.environments.slice(2)
  return { ...body, environments: [{ ...one, slug: other.slug }, { ...other, slug: one.slug }, ...others] }
}
const renamed = (slug: string, id: string) => (body: Json) => ({
  ...body,
  environments: body.environments.map((one: Json) => (one.slug === slug ? { ...one, id } : one)),
})

describe('a token that is bound to an environment', () => {
  /** The answer to the token, changed to another environment with a key and values that the server made up. */
  const elsewhere = async () => {
    const parsed = await parseToken(token)
    await alice.skerry(['run', '--', 'true'], { env: { SKERRY_TOKEN: token } })
    const body = liar.heard(/\/resolve/)
    const environmentId = newEnvironmentId()
    const app = body.layers.find((one: Json) => one.source === 'app')
    const layer = await forged({ ...app, environmentId }, parsed.publicKeyJwk)
    return { ...body, scope: { ...body.scope, envId: environmentId }, layers: [layer] }
  }

  it.each(['0', '1'])('gets no secrets from another environment, with SKERRY_STRICT=%s', async (strict) => {
    const lie = await elsewhere()
    liar.lie(/\/resolve/, () => lie)
    expect(await refused(`skerry run -- sh -c 'echo $A'`, { SKERRY_TOKEN: token, SKERRY_STRICT: strict })).toBe(
      'skerry: shop/development is a different environment than before; ' +
        `this token is bound to a different environment than before; ${hint('')}`,
    )
  })

  it('gets no secrets from another environment, even if the server also names another organization', async () => {
    const lie = await elsewhere()
    lie.scope = { ...lie.scope, orgId: lie.scope.orgId.replace(/.$/, (last: string) => (last === 'a' ? 'b' : 'a')) }
    liar.lie(/\/resolve/, () => lie)
    expect(await refused(`skerry run -- sh -c 'echo $A'`, { SKERRY_TOKEN: token })).toBe(
      'skerry: this token is bound to a different environment than before; ' +
        `this credential is a different organization than before; ${hint('')}`,
    )
  })

  it('writes no secret into another environment', async () => {
    const lie = await elsewhere()
    liar.lie(/\/resolve/, () => lie)
    const env = { SKERRY_TOKEN: token }
    const folder = await alice.ok('mktemp -d')
    expect(await refused(`cd ${folder.trim()} && echo -n precious | skerry secrets set A`, env)).toBe(
      `skerry: this token is bound to a different environment than before; ${hint('')}`,
    )
    expect(liar.sent()).toEqual([])
  })
})

describe('a name that means another environment', () => {
  it('is refused for a write, even if the writer can open the key that the server sends', async () => {
    const own = await wrapKey(newDek(), publicKeyJwk)
    liar.lie(/\/key$/, () => ({ wrappedDek: own }))
    liar.lie(/\/apps\/[^/]+\/envs/, renamed('development', newEnvironmentId()))
    expect(await refused('echo -n precious | skerry secrets set A')).toBe(
      `skerry: shop/development is a different environment than before; ${hint(' shop/development')}`,
    )
    expect(await refused('echo A=precious | skerry secrets import - --overwrite')).toContain(
      'is a different environment than before',
    )
    expect(liar.sent()).toEqual([])
  })

  it('is refused for a grant and a new token if development and production have changed places', async () => {
    liar.lie(/\/apps\/[^/]+\/envs/, swapped)
    const { tokenId } = await parseToken(token)
    for (const command of ['grant', 'token create --name other']) {
      const to = command === 'grant' ? `--token ${tokenId}` : ''
      expect(await refused(`skerry ${command} ${to} ${ofApp}`)).toBe(
        `skerry: shop/development is now the environment that was called shop/production; ${hint(' shop/development')}`,
      )
    }
    expect(await refused(`skerry grant --all --yes --token ${tokenId}`)).toContain('is now the environment that was')
    expect(liar.sent()).toEqual([])
  })

  it('is refused for a grant if the environments of a composed group have changed places', async () => {
    liar.lie(/\/groups\/[^/]+\/envs/, swapped)
    const { tokenId } = await parseToken(token)
    expect(await refused(`skerry grant ${tokenId} ${ofApp}`)).toBe(
      'skerry: shared:development is now the environment that was called shared:production; ' +
        hint(' shared:development'),
    )
    expect(liar.sent()).toEqual([])
  })

  it('is refused for reading and running, on a branch too', async () => {
    await alice.ok('skerry run -- true && skerry run --branch pr-7 -- true && rm -r ~/.cache/skerry')
    liar.lie(/\/envs\/[^/]+\/branches/, (body) => ({
      ...body,
      branches: body.branches.map((one: Json) => ({ ...one, id: newEnvironmentId() })),
    }))
    expect(await refused('skerry secrets ls --branch pr-7')).toBe(
      `skerry: shop/development@pr-7 is a different environment than before; ${hint(' shop/development@pr-7')}`,
    )
    liar.lie(/\/apps\/[^/]+\/envs/, swapped)
    for (const command of ['run -- true', 'run --branch pr-7 -- true', 'secrets list', 'secrets export']) {
      expect(await refused(`skerry ${command}`)).toContain('is now the environment that was called shop/production')
    }
  })

  it('is refused if another name meant that environment before, even if the name itself is new', async () => {
    liar.lie(/\/apps\/[^/]+\/envs/, (body) => ({
      ...body,
      environments: body.environments.map((one: Json) => (one.slug === 'production' ? { ...one, slug: 'dev' } : one)),
    }))
    expect(await refused('echo -n x | skerry secrets set A --env dev')).toBe(
      `skerry: shop/dev is now the environment that was called shop/production; ${hint(' shop/dev')}`,
    )
  })

  it('is reported by skerry doctor, and only a person can accept it', async () => {
    liar.lie(/\/apps\/[^/]+\/envs/, swapped)
    expect((await alice.skerry(['doctor'])).stdout).toContain(
      'FAIL  key: shop/development is now the environment that was called shop/production\n',
    )
    const { code, stderr } = await alice.skerry(['env', 'trust'])
    expect([code, stderr]).toEqual([
      2,
      'skerry: This accepts a change of shop/development: shop/development is now the environment that was called shop/production. ' +
        'Run again with `--yes` to do it.\n',
    ])
    // The commands above have not accepted it.
    await refused('skerry secrets ls')
  })
})

describe('a name that means another organization', () => {
  it('is refused for a write, even if the id comes from the cache', async () => {
    await alice.ok('rm -rf ~/.cache/skerry')
    const other = (id: string) => id.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))
    liar.lie(/\/me$/, (body) => ({ ...body, orgs: body.orgs.map((one: Json) => ({ ...one, id: other(one.id) })) }))
    expect(await refused('echo -n precious | skerry secrets set A')).toBe(
      `skerry: names is a different organization than before; ${hint('')}`,
    )
    // The organization from the cache is refused too.
    await refused('echo -n precious | skerry secrets set A')
    expect(liar.sent()).toEqual([])
    await alice.ok('rm -rf ~/.cache/skerry')
  })
})

describe('an honest change', () => {
  it('by this machine is known: an environment may be deleted and created again', async () => {
    await alice.ok('skerry env create preview && echo -n one | skerry secrets set A --env preview')
    await alice.ok('skerry run --env preview -- true && skerry env rm preview --yes && skerry env create preview')
    expect(
      await alice.ok('echo -n two | skerry secrets set A --env preview && skerry run --env preview -- printenv A'),
    ).toBe('two\n')
    await alice.ok('skerry branch rm pr-7 --yes && skerry branch create pr-7 && skerry run --branch pr-7 -- true')
  })

  it('by another machine is refused until a person accepts it, and is known afterwards', async () => {
    // The same person on another machine, which has its own known state.
    const elsewhere = 'export XDG_STATE_HOME=$HOME/other XDG_CACHE_HOME=$HOME/other-cache'
    await alice.ok(`${elsewhere}; skerry env rm preview --yes && skerry env create preview`)
    expect(await refused('skerry secrets ls --env preview')).toBe(
      `skerry: shop/preview is a different environment than before; ${hint(' shop/preview')}`,
    )
    const { stderr } = await alice.shell('skerry env trust preview --yes')
    expect(stderr).toBe('accepted: shop/preview is a different environment than before\n')
    await alice.ok('echo -n three | skerry secrets set A --env preview')
    expect(await alice.ok('skerry run --env preview -- printenv A')).toBe('three\n')
  })
})
