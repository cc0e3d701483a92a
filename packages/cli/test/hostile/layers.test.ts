import { describe, expect, it, vi } from 'vitest'
import { forgedGroup } from './forged.ts'
import type { Json } from './liar.ts'
import { openLiedTo } from './liar-scene.ts'

// A malicious server adds a layer of its own. Each test checks what a person sees.

vi.setConfig({ testTimeout: 240_000 })

const { liar, alice, publicKeyJwk } = await openLiedTo('Layers')
let count = 0

/** Makes an environment for one test, stores A in it, and runs a program in it once. */
async function ran(): Promise<string> {
  const env = `env-${++count}`
  await alice.ok(`skerry env create ${env} && echo -n old | skerry secrets set A --env ${env}`)
  await alice.ok(`skerry run --env ${env} -- true`)
  return env
}

/** Puts a group before the layers, and removes names from the application's layer. */
async function prepend(env: string, values: Record<string, string>, without: string[] = []) {
  const group = { ...(await forgedGroup(publicKeyJwk, values)), slug: env }
  liar.lie(/\/resolve/, (body) => {
    const rest = body.layers.map((layer: Json) => ({
      ...layer,
      secrets: layer.secrets.filter((one: Json) => !without.includes(one.name)),
    }))
    return { ...body, layers: [group, ...rest] }
  })
}

const run = (env: string, more = '', variables: Record<string, string> = {}) =>
  alice.shell(`skerry run --env ${env} ${more} -- sh -c 'echo "[$A] [$NODE_OPTIONS]"; node -e 0'`, { env: variables })
const strict = { SKERRY_STRICT: '1' }
const trust = (env: string) =>
  `the server may be lying; if someone on your team did this, accept it with \`skerry env trust shop/${env}\`\n`
const attack = '--import=data:text/javascript,console.log(`taken`)'

describe('an added layer', () => {
  it('cannot make a program load code, and causes a warning', async () => {
    const env = await ran()
    await prepend(env, { NODE_OPTIONS: attack })
    expect(await run(env)).toMatchObject({
      code: 0,
      stdout: '[old] []\n',
      stderr:
        `warning: extra:${env} was added since the last run; if nobody on your team did this, do not trust the server\n` +
        'warning: the program is not given NODE_OPTIONS: Node.js loads code from it; to give it, list NODE_OPTIONS ' +
        'under allowNames in skerry.json, or --allow-name NODE_OPTIONS\n',
    })
  })

  it('is refused in strict mode until a person accepts it', async () => {
    const env = await ran()
    await prepend(env, { B: 'forged' })
    for (let i = 0; i < 2; i++) {
      expect(await run(env, '', strict)).toMatchObject({
        code: 3,
        stdout: '',
        stderr: `skerry: extra:${env} was added since the last run; ${trust(env)}`,
      })
    }
    expect((await alice.shell(`skerry env trust ${env} --yes`)).stderr).toBe(
      `accepted: extra:${env} was added since the last run\n`,
    )
    expect((await run(env, '', strict)).code).toBe(0)
  })

  it('is reported if it takes over a name from another layer', async () => {
    const env = await ran()
    await prepend(env, { A: 'forged' }, ['A'])
    const moved = `A now comes from extra:${env} (before: shop/${env})`
    expect((await run(env, '', strict)).stderr).toBe(
      `skerry: extra:${env} was added since the last run; ${moved}; ${trust(env)}`,
    )
    expect((await run(env)).stderr).toBe(
      `warning: extra:${env} was added since the last run; ${moved}; if nobody on your team did this, do not trust the server\n` +
        `warning: shop/${env} no longer has A\n`,
    )
  })

  it('is noticed on a branch that was never run before', async () => {
    const env = await ran()
    await alice.ok(`skerry branch create first --env ${env}`)
    await prepend(env, { B: 'forged' })
    expect((await run(env, '--branch first', strict)).stderr).toContain(`extra:${env} was added since the last run`)
  })

  it('is not reported if this machine composed it, and neither is a secret that this machine wrote or deleted', async () => {
    const env = await ran()
    await alice.ok(`skerry group create g-${env} && skerry env create ${env} --group g-${env}`)
    await alice.ok(`echo -n group | skerry secrets set G --group g-${env} --env ${env}`)
    await alice.ok(`skerry compose set g-${env} --env ${env}`)
    expect(await run(env, '', strict)).toMatchObject({ code: 0, stderr: '' })
    await alice.ok(`echo -n own | skerry secrets set G --env ${env}`)
    expect(await run(env, '', strict)).toMatchObject({ code: 0, stderr: '' })
    await alice.ok(`skerry secrets rm G --env ${env} --yes`)
    expect(await run(env, '', strict)).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('a name that makes programs load something', () => {
  const warned = (name: string, reason: string) =>
    `warning: \`skerry run\` gives no program ${name} unless skerry.json or --allow-name ${name} says so: ${reason}\n`

  it('causes a warning when it is stored', async () => {
    const env = await ran()
    const set = await alice.shell(`echo -n x | skerry secrets set LD_PRELOAD --env ${env}`)
    expect(set.stderr).toContain(warned('LD_PRELOAD', 'the system’s loader takes libraries from it'))
    const imported = await alice.shell(`echo https_proxy=x | skerry secrets import - --env ${env}`)
    expect(imported.stderr).toContain(warned('https_proxy', 'connections would go by way of that host'))
  })

  it('is given to the program if skerry.json or an option lists it', async () => {
    const env = await ran()
    await alice.ok(`echo -n --title=mine | skerry secrets set NODE_OPTIONS --env ${env}`)
    expect((await run(env)).stdout).toBe('[old] []\n')
    expect((await run(env, '--only A,NODE_OPTIONS')).stdout).toBe('[old] []\n')
    expect(await run(env, '--allow-name NODE_OPTIONS')).toMatchObject({ stdout: '[old] [--title=mine]\n', stderr: '' })
    const project = JSON.parse(await alice.read('skerry.json'))
    await alice.write('skerry.json', JSON.stringify({ ...project, allowNames: ['NODE_OPTIONS'] }))
    expect((await run(env)).stdout).toBe('[old] [--title=mine]\n')
    await alice.write('skerry.json', JSON.stringify({ ...project, allowNames: ['A=b'] }))
    const { code, stderr } = await run(env)
    expect([code, stderr]).toEqual([2, expect.stringContaining("'allowNames' must be a list of names of secrets")])
    await alice.write('skerry.json', JSON.stringify(project))
  })
})
