import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorld, type World } from '../../server/test/world.ts'
import { type Machine, newMachine, signedUp } from './machine.ts'
import { ok as okOn } from './people.ts'

// A branch gives its key to the readers of its environment at that time. A later reader is told which branches it lacks.

let world: World
let machine: Machine
const ok = (command: string): Promise<string> => okOn(machine, command)

beforeAll(async () => {
  world = await openWorld()
  machine = await signedUp(world.url, 'Branching')
  await ok('echo -n value | skerry secrets set A && skerry branch create pr-1 && skerry branch create pr-2')
})
afterAll(async () => {
  await machine?.remove()
  await world?.close()
})

/** Reads A of a branch with a token alone. */
async function readWith(token: string, branch: string): Promise<number | null> {
  const other = await newMachine(world.url)
  other.env.SKERRY_TOKEN = token
  const { code } = await other.shell(`skerry run --branch ${branch} -- printenv A`)
  await other.remove()
  return code
}

test('a new token names the branches that it cannot read, and grant gives it their keys', async () => {
  const { code, stdout, stderr } = await machine.shell('skerry token create ci --env development')
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining(
      'ci cannot read branches that were made before: shop/development@pr-1, shop/development@pr-2; grant them with\n',
    ),
  ])
  expect(stderr).toContain('  skerry grant ci shop/development@pr-1\n  skerry grant ci shop/development@pr-2\n')
  expect(await readWith(stdout.trim(), 'pr-1')).not.toBe(0)
  const again = await machine.shell('skerry grant ci development')
  expect(again.stderr).toContain('ci cannot read branches that were made before: shop/development@pr-1')
  await ok('skerry grant ci shop/development@pr-1')
  expect(await readWith(stdout.trim(), 'pr-1')).toBe(0)
  const last = await machine.shell('skerry grant ci development --branches')
  expect([last.code, last.stderr.includes('cannot read')]).toEqual([0, false])
  expect(await readWith(stdout.trim(), 'pr-2')).toBe(0)
})

test('a new token gets the keys of the branches with --branches', async () => {
  const { code, stdout, stderr } = await machine.shell('skerry token create deploy --env development --branches')
  expect([code, stderr.includes('cannot read')]).toEqual([0, false])
  expect(stderr).toContain('shop/development@pr-2')
  expect(await readWith(stdout.trim(), 'pr-2')).toBe(0)
})

test('--branches is refused if there is no environment or no reader', async () => {
  const refused = async (command: string) => {
    const { code, stderr } = await machine.shell(command)
    expect(code).toBe(2)
    return stderr
  }
  expect(await refused('skerry token create x --admin --branches')).toContain('name it with --env')
  expect(await refused('skerry token create x --provisioner --branches')).toContain('name it with --env')
  expect(await refused('skerry grant ci --all --branches')).toContain('--all grants branches, too')
  expect(await refused('skerry grant --branches')).toContain('needs a member or a token')
})
