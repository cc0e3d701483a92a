import { newId } from '@skerry/crypto/random'
import { expect, it, vi } from 'vitest'
import type { Json } from './liar.ts'
import { openLiedTo } from './liar-scene.ts'

// A malicious server answers an id that belongs to something else than the name or the new object.

vi.setConfig({ testTimeout: 240_000 })

const { liar, alice } = await openLiedTo('Ids')
await alice.ok('skerry teams create Ops && skerry app rename shop Shop')

const refused = async (command: string) => {
  const { code, stdout, stderr } = await alice.shell(command)
  expect([code, stdout], stderr).toEqual([3, ''])
  return stderr
}

it.each([
  ['an application', /\/apps$/, 'apps', 'skerry app rename shop Other'],
  ['a team', /\/teams$/, 'teams', 'skerry teams rename Ops Other'],
])('refuses the id of a person as the id of %s', async (_, path, field, command) => {
  const id = newId('user')
  liar.lie(path, (body) => ({ ...body, [field]: body[field]?.map((one: Json) => ({ ...one, id })) }))
  expect(await refused(command)).toContain(`${id} as the id of the`)
  expect(liar.sent()).toEqual([])
})

it('refuses another team under the same name in other letters', async () => {
  const id = newId('team')
  liar.lie(/\/teams$/, (body) => ({ ...body, teams: body.teams?.map((one: Json) => ({ ...one, id, name: 'OPS' })) }))
  expect(await refused('skerry teams rename ops Other')).toContain('the team OPS is another one than before')
  expect(liar.sent()).toEqual([])
})

it('refuses the id of a known application as the id of a new one', async () => {
  const { apps } = JSON.parse(await alice.ok('skerry app ls --json'))
  liar.lie(/\/apps$/, (body) => (body.app ? { app: { ...body.app, id: apps[0].id } } : body))
  expect(await refused('skerry app create second')).toContain(`this machine knows that id as ${apps[0].slug}`)
  liar.repent()
  await alice.ok('skerry app rename shop Again')
})
