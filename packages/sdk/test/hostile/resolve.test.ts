import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '@skerry/crypto/random'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createKnownState, type KnownStateSettings } from '../../src/known-state.ts'
import { forEnvironment } from '../../src/loading-names.ts'
import { diskMemory } from '../../src/node/disk-memory.ts'
import type { Layer } from '../../src/resolve-body.ts'
import { wordsOf } from '../../src/rollback.ts'
import { app, branchBody, type Draft, layer, openSkerry, resolveWorld, shared } from '../world.ts'

// A server that sends false answers to a program that uses the SDK. Each test checks what the program gets.

/** A program that has resolved once. Its known state is on disk, where the next process finds it. */
async function world(more: Partial<KnownStateSettings> = {}) {
  const directory = join(await mkdtemp(join(tmpdir(), 'skerry-memory-')), 'seen')
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const made = await resolveWorld()
  const { server, reader } = made
  const start = (settings: Parameters<typeof openSkerry>[1] = {}) => {
    const store = diskMemory({ directory })
    const knownState = createKnownState({ store, baseUrl: server.baseUrl, principalId: reader.tokenId, ...more })
    return openSkerry(made, { knownState, ...settings })
  }
  await start().resolve()
  const answerWith = (change: (lie: typeof made.body) => void) => {
    const lie = structuredClone(made.body)
    change(lie)
    made.answer = () => ({ json: lie })
  }
  const forge = async (place: Omit<Layer, 'wrappedDek' | 'secrets'>, values: Record<string, string>) =>
    (await layer(place, values, reader.publicKeyJwk)) as Draft<Layer>
  return { ...made, directory, start, answerWith, forge, world: made }
}

const refusal = (message: string) => ({ code: 'rollback', message })

describe('a server that answers a bound token', () => {
  test('from another environment is refused, by the next process too', async () => {
    const { start, answerWith, forge } = await world()
    const environmentId = newId('environment')
    const forged = await forge({ ...app, environmentId }, { URL: 'evil' })
    answerWith((lie) => {
      lie.scope.envId = environmentId
      lie.layers = [forged]
    })
    for (let i = 0; i < 2; i++) {
      await expect(start().resolve()).rejects.toMatchObject(
        refusal(
          'web/production is a different environment than before; this token is bound to a different environment than before',
        ),
      )
    }
  })

  test('from a branch of its environment is refused', async () => {
    const { start, reader, world: made } = await world()
    const body = await branchBody(reader.publicKeyJwk)
    made.answer = () => ({ json: body })
    await expect(start().resolve()).rejects.toMatchObject({
      message: expect.stringContaining('this token is bound to a different environment than before'),
    })
  })

  test('under another organization is refused', async () => {
    const { start, answerWith } = await world()
    answerWith((lie) => {
      lie.scope.orgId = newId('organization')
    })
    await expect(start().resolve()).rejects.toMatchObject(
      refusal('this credential is a different organization than before'),
    )
  })

  test('with an invented group in place of a known group is refused', async () => {
    const { start, answerWith, forge } = await world()
    const forged = await forge({ ...shared, environmentId: newId('environment') }, { HOST: 'evil' })
    answerWith((lie) => {
      lie.layers[0] = forged
    })
    await expect(start().resolve()).rejects.toMatchObject({
      message: expect.stringContaining('shared:production is a different environment than before'),
    })
  })
})

describe('an added layer', () => {
  const extra = {
    source: 'group',
    environmentId: newId('environment'),
    slug: 'production',
    groupSlug: 'extra',
  } as const

  test('is reported to the program, and a name in it that loads code reaches no process environment', async () => {
    const told: string[] = []
    const { start, answerWith, forge } = await world({ onChanged: (changes) => told.push(wordsOf(changes)) })
    const forged = await forge(extra, { NODE_OPTIONS: '--import=data:text/javascript,evil()' })
    answerWith((lie) => lie.layers.unshift(forged))
    const { values } = await start().resolve()
    expect(told).toEqual(['extra:production was added since the last run'])
    const { env, withheld } = forEnvironment(values)
    expect(Object.keys(env).sort()).toEqual(['HOST', 'LEVEL', 'URL'])
    expect(withheld).toEqual([{ name: 'NODE_OPTIONS', reason: 'Node.js loads code from it' }])
  })

  test('is refused in strict mode if it takes over a name', async () => {
    const { start, answerWith, forge } = await world({ strict: true })
    const forged = await forge(extra, { URL: 'evil' })
    answerWith((lie) => {
      lie.layers.unshift(forged)
      lie.layers[2]!.secrets = lie.layers[2]!.secrets.filter(({ name }) => name !== 'URL')
    })
    await expect(start().resolve()).rejects.toMatchObject(
      refusal(
        'extra:production was added since the last run; URL now comes from extra:production (before: web/production)',
      ),
    )
  })
})

test('known state on disk is readable for its owner only, and contains no value', async () => {
  const { directory } = await world()
  expect((await stat(directory)).mode & 0o777).toBe(0o700)
  const files = await readdir(directory)
  expect(files.length).toBeGreaterThan(5)
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')))
  expect(texts.join()).not.toMatch(/debug|postgres|sc1\.|wd1\./)
})
