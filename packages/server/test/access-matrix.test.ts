import type { Endpoint } from '@skerry/contract/endpoint'
import { describe, expect, test } from 'vitest'
import { rawRoutes, routes } from '../src/app.ts'
import type { AnyRoute } from '../src/http/route.ts'
import { type Caller, makeCallers, type OneOfEach } from './callers.ts'
import { send, statusOf, textOf } from './http.ts'
import {
  forAskers,
  forHolders,
  forMembers,
  forOverriders,
  forPeople,
  narrowedInside,
  notForBound,
  notForMachines,
  ofApplication,
  ofOrg,
} from './route-groups.ts'
import { openOneOfEach } from './scene.ts'
import { auditRows, stateOf } from './state.ts'
import { errorOf } from './world.ts'

// Every request carries an unknown query parameter. The server rejects that parameter only after it has decided access.
// An error about the parameter therefore means that access was given, and the request changes nothing.

interface Row {
  route: AnyRoute
  /** `GET /v1/orgs/:orgId`, with a note where one route has two kinds of object. */
  title: string
  params: Record<string, string>
  cells: string[]
}

const { world, place } = await openOneOfEach()
const callers = await makeCallers(world, place)
const before = await stateOf(world)
const deniedBefore = (await auditRows(world)).length
const rows = routes.flatMap((route) => rowsOf(route, place))
for (const row of rows) for (const caller of callers) row.cells.push(await cell(row, caller))
const after = await stateOf(world)

function rowsOf(route: AnyRoute, { params, branchId }: OneOfEach): Row[] {
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
  const response = await send(`${world.url}${pathOf(endpoint, params)}?probe=1`, {
    method: endpoint.method,
    headers: as === undefined ? {} : { authorization: as },
  })
  const message = errorOf(JSON.parse(await textOf(response)))?.message
  // The token endpoint has single quotes here, because OAuth allows no double quotes in a description.
  if (statusOf(response) === 400 && /^query: unknown field ["']probe["']$/.test(message ?? '')) return 'pass'
  return String(statusOf(response))
}

const byTitle = (a: Row, b: Row) => (a.title < b.title ? -1 : 1)
const pathFirst = (title: string) => title.replace(/^(\S+) (\S+)/, '$2 $1')

function matrix(): string {
  const letters = callers.map((_, index) => String.fromCharCode(65 + index))
  const legend = callers.map((caller, index) => `${letters[index]}  ${caller.name}`)
  const lines = [...rows]
    .sort((a, b) => byTitle({ ...a, title: pathFirst(a.title) }, { ...b, title: pathFirst(b.title) }))
    .map((row) => [row.title, row.route.access.name, ...row.cells])
  const beside = rawRoutes.flatMap(({ method, paths, reason }) =>
    paths.map((path) => [`${method} ${path}`, `raw: ${reason}`]),
  )
  const byPath = ([a = '']: string[], [b = '']: string[]) => (pathFirst(a) < pathFirst(b) ? -1 : 1)
  const table = [['route', 'access', ...letters], ...lines, ...beside.sort(byPath)]
  const widths = (table[0] as string[]).map((_, column) =>
    Math.max(...table.map((line) => (line[column] ?? '').length)),
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

const isOpen = ({ route }: Row) => route.endpoint.surface === 'none'
const ending = (...cells: string[]) => new RegExp(`: (?:${cells.join('|')})$`)

describe('access', () => {
  test('of every kind of caller to every route equals the committed matrix', async () => {
    expect(new Set(rows.map((row) => row.route)).size).toBe(routes.length)
    await expect(matrix()).toMatchFileSnapshot('access.matrix.txt')
  })

  test('is either given, or refused with 401, 403 or 404', () => {
    const strange = cellsWhere(
      () => true,
      () => true,
    ).filter((cell) => !ending('pass', '401', '403', '404').test(cell))
    expect(strange).toEqual([])
  })

  test('is decided before anything is written: the requests of the matrix add only audit entries of denials', async () => {
    const { audit_entries: _before, ...unchanged } = before
    const { audit_entries: _after, ...others } = after
    expect(others).toEqual(unchanged)
    const entries = (await auditRows(world)).slice(deniedBefore)
    const machines = callers.filter((caller) => caller.kind === 'machine')
    expect(entries.map((entry) => entry.action)).toEqual(machines.map(() => 'env.resolve_denied'))
  })
})

describe('rules that every version of the matrix must follow', () => {
  test('a request without a valid credential gets 401 on every route that is not open', () => {
    const cells = cellsWhere(
      (row) => !isOpen(row),
      (caller) => caller.from === 'unknown',
    )
    expect(cells.length).toBeGreaterThan(300)
    expect(cells.filter((cell) => !ending('401').test(cell))).toEqual([])
  })

  test('the open routes are exactly these, and they need no credential', () => {
    expect(
      rows
        .filter(isOpen)
        .map((row) => row.title)
        .sort(),
    ).toEqual([
      'GET /.well-known/skerry-export-signing-key',
      'GET /health',
      'GET /ready',
      'GET /ready/writes',
      'GET /v1/sign-in',
      'GET /v1/sign-in/identity-link',
      'POST /oauth/token',
      'POST /v1/cli-login',
      'POST /v1/cli-login/poll',
      'POST /v1/sign-in/identity-link/confirm',
      'POST /v1/sign-in/identity-link/decline',
      'POST /v1/sign-in/identity-link/mail',
      'POST /v1/sign-in/identity-link/passkey-options',
      'POST /v1/sign-in/identity-link/second-factor',
      'POST /v1/sign-in/links',
      'POST /v1/sign-in/links/invitation',
      'POST /v1/sign-in/links/redeem',
      'POST /v1/sign-in/passkeys',
      'POST /v1/sign-in/passkeys/options',
      'POST /v1/sign-in/refresh',
      'POST /v1/sign-in/set-up',
      'POST /v1/sign-in/sign-out',
      'POST /v1/signup',
      'POST /v1/vault/connect/claim',
      'POST /v1/vault/executor/register',
    ])
    expect(cellsWhere(isOpen, () => true).filter((cell) => !ending('pass').test(cell))).toEqual([])
  })

  test('a CLI session may call what its person may call, except routes that need a browser, which answer 403', () => {
    const [person, session] = ['admin', 'CLI session of that admin'].map((name) =>
      callers.findIndex((caller) => caller.name === name),
    ) as [number, number]
    const differ = rows.filter(({ cells }) => cells[person] !== cells[session])
    expect(differ.length).toBeGreaterThan(2)
    expect(differ).toEqual(rows.filter(({ route }) => /browser|awaitingSecondFactor/.test(route.access.name)))
    for (const { cells } of differ) expect(cells[session]).toBe('403')
  })

  test('a vault credential is valid on its own surface only, and no other credential is valid there', () => {
    for (const surface of ['platform', 'executor', 'claim'] as const) {
      const own = cellsWhere(
        (row) => row.route.endpoint.surface === surface,
        (caller) => caller.surface === surface,
      )
      const elsewhere = cellsWhere(
        (row) => !isOpen(row) && row.route.endpoint.surface !== surface,
        (caller) => caller.surface === surface,
      )
      // A claim may call only the routes that its connect link was made for. The others of its surface answer 403.
      expect(own.filter((cell) => !ending('pass', ...(surface === 'claim' ? ['403'] : [])).test(cell))).toEqual([])
      expect(elsewhere.length).toBeGreaterThan(200)
      expect(elsewhere.filter((cell) => !ending('401').test(cell))).toEqual([])
    }
    const strangers = cellsWhere(
      ({ route }) => ['platform', 'executor', 'claim'].includes(route.endpoint.surface),
      (caller) => caller.from !== 'vault',
    )
    expect(strangers.length).toBeGreaterThan(300)
    expect(strangers.filter((cell) => !ending('401').test(cell))).toEqual([])
  })

  test('a caller of another organization gets 404 on every route of the organization', () => {
    const cells = cellsWhere(ofOrg, (caller) => caller.from === 'foreign')
    expect(cells.length).toBeGreaterThan(100)
    expect(cells.filter((cell) => !ending('404').test(cell))).toEqual([])
  })

  test('a machine client gets 403 on every route that needs a key or a person', () => {
    const cells = cellsWhere(notForMachines, (caller) => caller.kind === 'machine' && caller.from === 'org')
    expect(cells).toHaveLength(2 * notForMachines.count)
    expect(cells.filter((cell) => !ending('403').test(cell))).toEqual([])
  })

  test('a machine client may call every other route of its organization', () => {
    const cells = cellsWhere(
      (row) => ofOrg(row) && !notForMachines(row),
      (caller) => caller.kind === 'machine' && caller.from === 'org',
    )
    expect(cells.filter((cell) => !ending('pass').test(cell))).toEqual([])
  })

  test('a member gets 403 on every admin route, as a person and as a token', () => {
    const cells = cellsWhere(
      (row) => ofOrg(row) && !forMembers(row) && !forAskers(row) && !forPeople(row) && !forOverriders(row),
      (caller) => caller.role === 'member',
    )
    expect(cells.length).toBeGreaterThan(100)
    expect(cells.filter((cell) => !ending('403').test(cell))).toEqual([])
  })

  test('a member in person may ask for access, and the request of another member does not exist for them', () => {
    const isMember = (caller: Caller) => caller.kind === 'person' && caller.from === 'org' && caller.role === 'member'
    const names = ({ title }: { title: string }) => title.includes('/:accessRequestId')
    const own = cellsWhere((row) => forAskers(row) && !names(row), isMember)
    const others = cellsWhere((row) => forAskers(row) && names(row), isMember)
    expect([own.length, others.length]).toEqual([4, 4])
    expect(own.filter((cell) => !ending('pass').test(cell))).toEqual([])
    expect(others.filter((cell) => !ending('404').test(cell))).toEqual([])
  })

  test('a member in person may show that they look at an application', () => {
    const cells = cellsWhere(forPeople, (caller) => caller.kind === 'person' && caller.from === 'org')
    expect(cells.length).toBeGreaterThan(2 * forPeople.count)
    expect(cells.filter((cell) => !ending('pass').test(cell))).toEqual([])
  })

  test('only a person with the key may store overrides, a token never, and those of another person do not exist', () => {
    const names = ({ title }: { title: string }) => title.includes('/:overrideId')
    const isHolder = (caller: Caller) => caller.kind === 'person' && caller.granted
    const own = cellsWhere((row) => forOverriders(row) && !names(row), isHolder)
    const others = cellsWhere((row) => forOverriders(row) && names(row), isHolder)
    const rest = cellsWhere(forOverriders, (caller) => caller.from === 'org' && !isHolder(caller))
    expect([own.length, others.length, rest.length > 40]).toEqual([2, 2, true])
    expect(own.filter((cell) => !ending('pass').test(cell))).toEqual([])
    expect(others.filter((cell) => !ending('404').test(cell))).toEqual([])
    expect(rest.filter((cell) => !ending('403').test(cell))).toEqual([])
  })

  test('a caller without a key grant gets 403 on every route that needs one, even the owner and an admin token', () => {
    const cells = cellsWhere(
      forHolders,
      (caller) => caller.from === 'org' && caller.kind !== 'machine' && !caller.granted,
    )
    expect(cells).toHaveLength(9 * forHolders.count)
    expect(cells.filter((cell) => !ending('403').test(cell))).toEqual([])
  })

  test('a member with a key grant may call every member route', () => {
    const cells = [
      ...cellsWhere(forMembers, (caller) => caller.granted && !caller.bound),
      ...cellsWhere(
        (row) => forMembers(row) && !notForBound(row),
        (caller) => caller.granted && caller.bound === 'here',
      ),
    ]
    expect(cells).toHaveLength(3 * forMembers.count - notForBound.count)
    expect(cells.filter((cell) => !ending('pass').test(cell))).toEqual([])
  })

  test('a bound token gets 403 on routes of other applications and on admin routes of the organization', () => {
    const elsewhere = cellsWhere(
      (row) => ofOrg(row) && !narrowedInside(row) && (ofApplication(row) || !forMembers(row) || notForBound(row)),
      (caller) => caller.bound === 'elsewhere',
    )
    const here = cellsWhere(
      (row) => ofOrg(row) && !narrowedInside(row) && ((!ofApplication(row) && !forMembers(row)) || notForBound(row)),
      (caller) => caller.bound === 'here',
    )
    expect([elsewhere.length > 100, here.length > 60]).toEqual([true, true])
    expect([...elsewhere, ...here].filter((cell) => !ending('403').test(cell))).toEqual([])
  })

  test('an admin token that is bound here has the same access to its application as an unbound admin token', () => {
    const [free, bound] = ['admin token', 'admin token bound here'].map((name) =>
      callers.findIndex((caller) => caller.name === name),
    ) as [number, number]
    const own = rows.filter((row) => ofApplication(row) && /\/:(?:appId|envId)/.test(row.title))
    expect(own.length).toBeGreaterThan(20)
    for (const { title, cells } of own) expect([title, cells[bound]]).toEqual([title, cells[free]])
  })
})
