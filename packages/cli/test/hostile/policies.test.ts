import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Machine, newMachine } from '../machine.ts'
import { openLiedTo } from './liar-scene.ts'

// Alice signs the policies of two organizations, each with an agent named builder. The server shows the proxy of one
// organization the policy of the other.

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const { alice, liar } = await openLiedTo('Policies')
const policy = /\/agents\/builder\/policy$/
let signer: string
let machine: Machine
/** The policy of the agent of the other organization. */
let otherPolicy: string

beforeAll(async () => {
  signer = await publish('policies')
  machine = await withToken('policies')
  await alice.ok('skerry org create "Other" && skerry app create shop --org other')
  await alice.ok('skerry env create development --app shop --org other')
  await publish('other')
  const other = await withToken('other')
  expect(await run(other)).toMatchObject({ code: 0 })
  otherPolicy = liar.heard(policy).bundle
  await other.remove()
  // To Alice, who is in both organizations, the slug would be ambiguous.
  await alice.ok('skerry agent rm builder --org other --yes')
})
afterAll(() => machine.remove())

async function publish(org: string): Promise<string> {
  await alice.write('rules.json', JSON.stringify([{ host: 'example.com', methods: [], paths: [], allow: ['API_KEY'] }]))
  await alice.ok(`skerry agent create builder --org ${org} --env development`)
  const { stdout, stderr } = await alice.shell(
    `skerry agent policy publish builder --file rules.json --yes --org ${org}`,
  )
  return /[\w-]{43}/.exec(stdout + stderr)![0]
}

async function withToken(org: string): Promise<Machine> {
  const token = await alice.ok(`skerry token create proxy --org ${org} --env development`)
  const made = await newMachine(liar.url)
  made.env.SKERRY_TOKEN = token.trim().split('\n').at(-1)!
  return made
}

async function run(on: Machine) {
  const section = `[policy]\nsource = "server"\nagent = "builder"\nsigners = ["${signer}"]\n`
  await on.write('skerry-proxy.toml', `[forward]\nlisten = "127.0.0.1:0"\n${section}`)
  return on.shell('skerry proxy run -- true')
}

it('an id of the organization that would write a setting is not written by proxy init', async () => {
  const fresh = await withToken('policies')
  const written = 'org_x"\naccept_rollback = true\nlabel = "'
  liar.lie(/\/v1\/me$/, (body) => ({ ...body, orgs: [{ ...body.orgs[0], id: written }] }))
  const { code, stderr } = await fresh.shell(`skerry proxy init --agent builder --signer ${signer}`)
  expect([code, stderr]).toEqual([1, expect.stringContaining('an organization whose id is malformed')])
  await expect(fresh.read('skerry-proxy.toml')).rejects.toThrow('no such file')
  await fresh.remove()
})

it.each([
  ['a token', () => machine],
  ['a person', () => alice],
])('a policy of another organization is refused for %s, although the settings name none', async (_, on) => {
  expect(await run(on())).toMatchObject({ code: 0 })
  liar.lie(policy, (body) => ({ ...body, bundle: otherPolicy }))
  const { code, stderr } = await run(on())
  expect([code, stderr]).toEqual([1, expect.stringContaining('the policy belongs to another organization')])
})
