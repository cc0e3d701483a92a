import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Machine, newMachine, signedUp } from './machine.ts'
import { newPersonMachine, openPeopleServer, type PeopleServer } from './people.ts'

let server: PeopleServer
let machine: Machine
beforeAll(async () => {
  server = await openPeopleServer()
  machine = await signedUp(server.url, 'Names')
})
afterAll(async () => {
  await machine?.remove()
  await server?.close()
})

async function makeToken(name: string): Promise<{ id: string; token: string }> {
  const { stdout } = await machine.shell(`skerry token create '${name}' --json`)
  const { token, serviceToken } = JSON.parse(stdout)
  return { id: serviceToken.id, token }
}

it('a token can be revoked by its name, and a name of several tokens is refused with their ids', async () => {
  const first = await makeToken('ci')
  const revoked = await machine.shell('skerry token revoke ci --yes --json')
  expect(JSON.parse(revoked.stdout)).toMatchObject({ revoked: first.id })
  const [second, third] = [await makeToken('ci'), await makeToken('ci')]
  const several = await machine.shell('skerry token revoke ci --yes')
  expect(several).toMatchObject({ code: 2, stdout: '' })
  for (const { id } of [second, third]) expect(several.stderr).toContain(id)
  expect(several.stderr).not.toContain(first.id)
  expect((await machine.shell(`skerry token revoke ${third.id} --yes`)).code).toBe(0)
  expect((await machine.shell('skerry token show ci')).stdout).toContain(second.id)
  const none = await machine.shell('skerry token revoke nobody --yes')
  expect(none).toMatchObject({ code: 4, stderr: "skerry: there is no token 'nobody'; see `skerry token ls`\n" })
})

it('a grant to the name of a token that this machine does not know is refused until --reader accepts it', async () => {
  const { id } = await makeToken('deploy')
  expect((await machine.shell('skerry grant deploy')).stderr).toContain('deploy already has')
  const other = await newMachine(server.url)
  try {
    const { token } = JSON.parse(
      (await machine.shell('skerry token create admin --admin --env development --json')).stdout,
    )
    other.env.SKERRY_TOKEN = token
    const refused = await other.shell('skerry grant deploy --app shop --env development')
    expect(refused.code).toBe(3)
    expect(refused.stderr).toContain('run again with --reader deploy')
    expect(refused.stderr).not.toContain(id)
    const byName = await other.shell('skerry grant deploy --app shop --env development --reader deploy')
    expect([byName.code, byName.stderr]).toEqual([0, expect.stringContaining('deploy already has')])
    expect((await other.shell('skerry grant deploy --app shop --env development')).code).toBe(0)
  } finally {
    await other.remove()
  }
})

it('leases and audit entries are filtered by a name, and an unknown name is refused', async () => {
  const { id } = await makeToken('builder')
  expect(await machine.shell('skerry lease ls --by nobody')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('--by nobody is not a member, token or machine client'),
  })
  expect((await machine.shell('skerry lease ls --by builder --json')).stdout).toContain('"leases": []')
  expect((await machine.shell('skerry audit --actor nobody')).code).toBe(4)
  await machine.shell(`skerry token create builder`)
  const several = await machine.shell('skerry lease ls --by builder')
  expect([several.code, several.stderr]).toEqual([2, expect.stringContaining(id)])
})

it('a machine client can be renewed and revoked by its name, and a name of several clients is refused with their ids', async () => {
  // Only a person may create, renew and revoke machine clients.
  const person = await newPersonMachine(server, 'clients@example.com')
  try {
    await person.ok('skerry org create "Client Names"')
    const create = async () => JSON.parse(await person.ok('skerry client create ci --json')).client.id as string
    const first = await create()
    expect(JSON.parse(await person.ok('skerry client rotate ci --yes --json')).client.id).toBe(first)
    expect(JSON.parse(await person.ok('skerry client revoke ci --yes --json'))).toMatchObject({ revoked: first })
    const [second, third] = [await create(), await create()]
    for (const command of ['renew', 'revoke']) {
      const several = await person.shell(`skerry client ${command} ci --yes`)
      expect(several).toMatchObject({ code: 2, stdout: '' })
      for (const id of [second, third]) expect(several.stderr).toContain(id)
      expect(several.stderr).not.toContain(first)
    }
    await person.ok(`skerry client revoke ${third} --yes`)
    expect(JSON.parse(await person.ok('skerry client revoke ci --yes --json'))).toMatchObject({ revoked: second })
    const none = await person.shell('skerry client revoke nobody --yes')
    expect(none).toMatchObject({
      code: 4,
      stderr: "skerry: there is no machine client 'nobody'; see `skerry client ls`\n",
    })
  } finally {
    await person.remove()
  }
})

it('a decoy can be removed by its placement', async () => {
  await machine.shell('skerry honey create wiki')
  expect(await machine.shell('skerry honey rm wiki --yes')).toMatchObject({ code: 0 })
  const gone = await machine.shell('skerry honey rm wiki --yes')
  expect(gone).toMatchObject({ code: 4, stderr: "skerry: there is no decoy 'wiki'; see `skerry honey ls`\n" })
})

it('a destructive command without --yes says in a sentence what it would do', async () => {
  await machine.shell('printf 1 | skerry secrets set A && printf 2 | skerry secrets set B')
  const refused = await machine.shell('skerry app rm shop')
  expect(refused).toMatchObject({
    code: 2,
    stderr:
      'skerry: This deletes application shop with 2 secrets in development, and all branches. Run again with `--yes` to do it.\n',
  })
})

it('a name that two readers have is refused by --reader, and the error tells them apart by id', async () => {
  const twins = [await makeToken('twin'), await makeToken('twin')]
  const other = await newMachine(server.url)
  try {
    const made = await machine.shell('skerry token create keeper --admin --env development --json')
    other.env.SKERRY_TOKEN = JSON.parse(made.stdout).token
    const refused = await other.shell('skerry env rekey shop/development --yes')
    for (const { id } of twins) expect(refused.stderr).toContain(`twin (${id})`)
    const both = await other.shell('skerry env rekey shop/development --yes --reader twin')
    expect(both).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--reader twin matches 2 readers of the new key'),
    })
    for (const { id } of twins) expect(both.stderr).toContain(id)
    expect(both.stderr).toContain('`skerry token ls` shows who made it')
    const [, options] = /run again with (.*)/.exec(refused.stderr) ?? []
    for (const { id } of twins) expect(options).toContain(`--reader ${id}`)
    expect(await other.shell(`skerry env rekey shop/development --yes ${options}`)).toMatchObject({ code: 0 })
  } finally {
    await other.remove()
  }
})
