import type { Endpoint } from '@skerry/contract/endpoint'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../src/app.ts'
import type { Route } from '../src/http/route.ts'
import { buildCallers, buildPlace, type Caller, deadTokens, type Place } from './callers.ts'
import { auditRows, type State, stateOf } from './state.ts'
import { openWorld, type World } from './world.ts'

// Every request carries an unknown query parameter, which is refused only after access has been decided: whoever is
// told about the parameter has passed, and nothing has changed.

interface Row {
  route: Route
  /** `GET /v1/orgs/:orgId`, with a note where one route has two kinds of object. */
  title: string
  params: Record<string, string>
  cells: string[]
}

let world: World
let place: Place
let callers: Caller[]
let rows: Row[]
let before: State
let after: State
let deniedBefore: number

beforeAll(async () => {
  world = await openWorld()
  place = await buildPlace(world)
  callers = await buildCallers(world, place)
  before = await stateOf(world)
  deniedBefore = (await auditRows(world)).length
  rows = routes.flatMap((route) => rowsOf(route, place))
  for (const row of rows) for (const caller of callers) row.cells.push(await cell(row, caller))
  after = await stateOf(world)
}, 120_000)
afterAll(() => world.close())

function rowsOf(route: Route, { params, branchId }: Place): Row[] {
  const title = `${route.endpoint.method} ${route.endpoint.path}`
  const row = { route, title, params, cells: [] }
  if (!route.access.name.startsWith('branchHolderOrAdmin')) return [row]
  return [row, { ...row, title: `${title} (a branch)`, params: { ...params, envId: branchId }, cells: [] }]
}

function pathOf({ path }: Endpoint, params: Record<string, string>): string {
  return path.replace(/:(\w+)/g, (_, name) => {
    const value = params[name]
    if (value === undefined) throw new Error(`${path}: the place has no ${name}`)
    return value
  })
}

async function cell({ route, params }: Row, { as }: Caller): Promise<string> {
  const { endpoint } = route
  const response = await fetch(`${world.url}${pathOf(endpoint, params)}?probe=1`, {
    method: endpoint.method,
    headers: as === undefined ? {} : { authorization: as },
  })
  const { error } = (await response.json()) as { error?: { code: string; message: string } }
  if (response.status === 400 && error?.message === 'query: unknown field "probe"') return 'pass'
  return String(response.status)
}

const byTitle = (a: Row, b: Row) => (a.title < b.title ? -1 : 1)
const pathFirst = (title: string) => title.replace(/^(\S+) (\S+)/, '$2 $1')

function matrix(): string {
  const letters = callers.map((_, index) => String.fromCharCode(65 + index))
  const legend = callers.map((caller, index) => `${letters[index]}  ${caller.name}`)
  const lines = [...rows]
    .sort((a, b) => byTitle({ ...a, title: pathFirst(a.title) }, { ...b, title: pathFirst(b.title) }))
    .map((row) => [row.title, row.route.access.name, ...row.cells])
  const table = [['route', 'access', ...letters], ...lines]
  const widths = (table[0] as string[]).map((_, column) =>
    Math.max(...table.map((line) => (line[column] as string).length)),
  )
  const aligned = table.map((line) =>
    line
      .map((text, column) => text.padEnd(widths[column] as number))
      .join('  ')
      .trimEnd(),
  )
  return `${['Every route against every kind of caller. pass: access is given. Update: vitest -u', '', ...legend, '', ...aligned].join('\n')}\n`
}

/** Cells of the rows and callers that fulfil both conditions, each as `caller: route: cell`. */
function cellsWhere(row: (row: Row) => boolean, caller: (caller: Caller) => boolean): string[] {
  return rows
    .filter(row)
    .flatMap((each) =>
      callers.flatMap((who, index) => (caller(who) ? [`${who.name}: ${each.title}: ${each.cells[index]}`] : [])),
    )
}

const ofOrg = ({ title }: Row) => title.includes('/:orgId')
const isOpen = ({ route }: Row) => route.endpoint.open
const ending = (...cells: string[]) => new RegExp(`: (?:${cells.join('|')})$`)
/** Rows by title, with `org` for the path that most begin with. */
function titled(list: string): (row: Row) => boolean {
  const wanted = new Set(list.trim().split('\n'))
  return ({ title }) => wanted.has(title.replace('/v1/orgs/:orgId', 'org'))
}

/** What a member may do; the specification marks everything else in an organization (admin). */
const forMembers = titled(`
GET org
GET org/members
DELETE org/members/:userId
GET org/apps
GET org/apps/:appId
GET org/apps/:appId/envs
GET org/apps/:appId/branches
GET org/envs/:envId
GET org/envs/:envId/grantees
GET org/envs/:envId/branches
POST org/envs/:envId/branches
GET org/groups
GET org/groups/:groupId
GET org/groups/:groupId/envs
GET org/envs/:envId/groups
GET org/envs/:envId/secrets
PUT org/envs/:envId/secrets/:name
GET org/envs/:envId/secrets/:name/versions
POST org/envs/:envId/secrets/:name/restore
DELETE org/envs/:envId/secrets/:name
GET org/envs/:envId/key
GET org/envs/:envId/protection
GET org/change-requests
GET org/change-requests/:changeRequestId
DELETE org/envs/:envId (a branch)
`)
/** Needs a key grant on the environment, whatever the role. */
const forHolders = titled(`
POST org/envs/:envId/branches
POST org/envs/:envId/rekey
GET org/envs/:envId/secrets
PUT org/envs/:envId/secrets/:name
GET org/envs/:envId/secrets/:name/versions
POST org/envs/:envId/secrets/:name/restore
DELETE org/envs/:envId/secrets/:name
GET org/envs/:envId/key
`)
/** Where a key or a person is needed, which a machine client neither holds nor is. */
const notForMachines = titled(`
GET /v1/resolve
GET /v1/me/keys
PUT /v1/me/keys
GET /v1/me/second-factor
POST /v1/me/second-factor/totp
POST /v1/me/second-factor/totp/confirm
DELETE /v1/me/second-factor/totp
POST /v1/me/second-factor/recovery-codes
POST /v1/me/second-factor/passkey-options
POST /v1/me/second-factor/enter
GET /v1/me/sign-in-passkeys
POST /v1/me/sign-in-passkeys/options
POST /v1/me/sign-in-passkeys
DELETE /v1/me/sign-in-passkeys/:signInPasskeyId
GET /v1/me/sessions
DELETE /v1/me/sessions/:webSessionId
POST /v1/orgs
POST org/apps/:appId/envs
POST org/groups/:groupId/envs
POST org/envs/:envId/branches
POST org/envs/:envId/rekey
GET org/envs/:envId/secrets
PUT org/envs/:envId/secrets/:name
GET org/envs/:envId/secrets/:name/versions
GET org/envs/:envId/key
POST org/change-requests/:changeRequestId/approve
POST org/change-requests/:changeRequestId/reject
`)

describe('access', () => {
  test('of every route and every kind of caller is what the committed matrix says', async () => {
    expect(new Set(rows.map((row) => row.route)).size).toBe(routes.length)
    await expect(matrix()).toMatchFileSnapshot('access.matrix.txt')
  })

  test('is given or refused with 401, 403 or 404, and nothing else', () => {
    const strange = cellsWhere(
      () => true,
      () => true,
    ).filter((cell) => !ending('pass', '401', '403', '404').test(cell))
    expect(strange).toEqual([])
  })

  test('is decided before anything is read or written: the whole matrix changed nothing but the trail of denials', async () => {
    const { audit_entries: _before, ...unchanged } = before
    const { audit_entries: _after, ...others } = after
    expect(others).toEqual(unchanged)
    const entries = (await auditRows(world)).slice(deniedBefore)
    const machines = callers.filter((caller) => caller.kind === 'machine')
    expect(entries.map((entry) => entry.action)).toEqual(machines.map(() => 'env.resolve_denied'))
  })
})

describe('rules that hold whatever the matrix says', () => {
  test('nobody and no dead credential passes anything but open routes', () => {
    const cells = cellsWhere(
      (row) => !isOpen(row),
      (caller) => caller.from === 'unknown',
    )
    expect(cells.length).toBeGreaterThan(300)
    expect(cells.filter((cell) => !ending('401').test(cell))).toEqual([])
  })

  test('open routes are these, and ask for no credential', () => {
    expect(
      rows
        .filter(isOpen)
        .map((row) => row.title)
        .sort(),
    ).toEqual([
      'GET /health',
      'GET /ready',
      'GET /v1/sign-in',
      'POST /oauth/token',
      'POST /v1/cli-login',
      'POST /v1/cli-login/poll',
      'POST /v1/sign-in/links',
      'POST /v1/sign-in/links/redeem',
      'POST /v1/sign-in/passkeys',
      'POST /v1/sign-in/passkeys/options',
      'POST /v1/sign-in/refresh',
      'POST /v1/sign-in/set-up',
      'POST /v1/sign-in/sign-out',
      'POST /v1/signup',
    ])
    expect(cellsWhere(isOpen, () => true).filter((cell) => !ending('pass').test(cell))).toEqual([])
  })

  test('a CLI session passes what its person passes, but for what needs a browser', () => {
    const [person, session] = ['admin', 'CLI session of that admin'].map((name) =>
      callers.findIndex((caller) => caller.name === name),
    ) as [number, number]
    const differ = rows.filter(({ cells }) => cells[person] !== cells[session])
    expect(differ.length).toBeGreaterThan(2)
    expect(differ).toEqual(rows.filter(({ route }) => /browser|arriving/.test(route.access.name)))
    for (const { cells } of differ) expect(cells[session]).toBe('403')
  })

  test('whoever is of another organization finds nothing there', () => {
    const cells = cellsWhere(ofOrg, (caller) => caller.from === 'foreign')
    expect(cells.length).toBeGreaterThan(100)
    expect(cells.filter((cell) => !ending('404').test(cell))).toEqual([])
  })

  test('a machine client is refused wherever a key or a person is needed', () => {
    const cells = cellsWhere(notForMachines, (caller) => caller.kind === 'machine' && caller.from === 'org')
    expect(cells).toHaveLength(2 * 27)
    expect(cells.filter((cell) => !ending('403').test(cell))).toEqual([])
  })

  test('a machine client passes every other route of its organization', () => {
    const cells = cellsWhere(
      (row) => ofOrg(row) && !notForMachines(row),
      (caller) => caller.kind === 'machine' && caller.from === 'org',
    )
    expect(cells.filter((cell) => !ending('pass').test(cell))).toEqual([])
  })

  test('no member, person or token, passes an admin route', () => {
    const cells = cellsWhere(
      (row) => ofOrg(row) && !forMembers(row),
      (caller) => caller.role === 'member',
    )
    expect(cells.length).toBeGreaterThan(100)
    expect(cells.filter((cell) => !ending('403').test(cell))).toEqual([])
  })

  test('without a key grant nobody passes where one is needed, owner and admin token included', () => {
    const cells = cellsWhere(
      forHolders,
      (caller) => caller.from === 'org' && caller.kind !== 'machine' && !caller.granted,
    )
    expect(cells).toHaveLength(8 * 7)
    expect(cells.filter((cell) => !ending('403').test(cell))).toEqual([])
  })

  test('with one, a member passes everything that members may do', () => {
    const cells = cellsWhere(forMembers, (caller) => caller.granted)
    expect(cells).toHaveLength(25 * 3)
    expect(cells.filter((cell) => !ending('pass').test(cell))).toEqual([])
  })
})

describe('a credential that does not work', () => {
  /** All that a caller can see of an answer, but for what differs between any two. */
  async function seen(path: string, as: string) {
    const response = await fetch(`${world.url}${path}`, { headers: { authorization: as } })
    const headers = [...response.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
    return { status: response.status, headers, body: await response.text() }
  }

  test('is answered in the same bytes, whether unknown, revoked, expired or deleted', async () => {
    const dead = await deadTokens(world, place.tenant)
    for (const path of ['/v1/me', '/v1/resolve', `/v1/orgs/${place.tenant.orgId}/tokens`]) {
      const answers = await Promise.all(Object.values(dead).map((as) => seen(path, as)))
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
      expect(answers[0]).toMatchObject({
        status: 401,
        body: '{"error":{"code":"unauthorized","message":"unknown service token"}}',
      })
    }
  })

  test('of any form is 401, never an error of the server', async () => {
    const { admin, machine } = place.tenant
    const [id, secret] = Buffer.from(machine.as.slice('Basic '.length), 'base64').toString().split(':')
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    const bad = [
      'Bearer',
      'Basic',
      'Basic !!!',
      'Bearer  ',
      `${admin.as} more`,
      admin.as.replace('Bearer', 'Token'),
      admin.as.slice('Bearer '.length),
      `${admin.as}x`,
      admin.as.slice(0, -1),
      'Bearer skt_',
      'Bearer skc_unknown',
      'Bearer skm_unknown',
      'Bearer a.b.c',
      `Bearer ${'a'.repeat(5000)}.b.c`,
      'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.',
      basic(`${id}:${secret}x`),
      basic(`${id}:`),
      basic(`${id}`),
      basic(`:${secret}`),
      basic(admin.as.slice('Bearer '.length)),
      basic(`${admin.id}:${admin.as.slice('Bearer '.length)}`),
    ]
    for (const as of bad) expect([as, (await seen('/v1/me', as)).status]).toEqual([as, 401])
  })
})
