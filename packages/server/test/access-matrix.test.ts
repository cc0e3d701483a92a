import type { Endpoint } from '@skerry/contract/endpoint'
import { describe, expect, test } from 'vitest'
import { rawRoutes, routes } from '../src/app.ts'
import type { AnyRoute } from '../src/http/route.ts'
import { buildCallers, type Caller, type Place } from './callers.ts'
import {
  forHolders,
  forMembers,
  narrowedInside,
  notForBound,
  notForMachines,
  ofApplication,
  ofOrg,
} from './route-groups.ts'
import { openPlace } from './scene.ts'
import { auditRows, stateOf } from './state.ts'
import { errorOf } from './world.ts'

// Every request carries an unknown query parameter, which is refused only after access has been decided: a caller that is
// told of the parameter has been given access, and nothing has changed.

interface Row {
  route: AnyRoute
  /** `GET /v1/orgs/:orgId`, with a note where one route has two kinds of object. */
  title: string
  params: Record<string, string>
  cells: string[]
}

const { world, place } = await openPlace()
const callers = await buildCallers(world, place)
const before = await stateOf(world)
const deniedBefore = (await auditRows(world)).length
const rows = routes.flatMap((route) => rowsOf(route, place))
for (const row of rows) for (const caller of callers) row.cells.push(await cell(row, caller))
const after = await stateOf(world)

function rowsOf(route: AnyRoute, { params, branchId }: Place): Row[] {
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
  const message = errorOf((await response.json()) as object)?.message
  // The token endpoint says it without quotes.
  if (response.status === 400 && /^query: unknown field ["']probe["']$/.test(message ?? '')) return 'pass'
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

  test('a CLI session passes what its person passes, but for what needs a browser', () => {
    const [person, session] = ['admin', 'CLI session of that admin'].map((name) =>
      callers.findIndex((caller) => caller.name === name),
    ) as [number, number]
    const differ = rows.filter(({ cells }) => cells[person] !== cells[session])
    expect(differ.length).toBeGreaterThan(2)
    expect(differ).toEqual(rows.filter(({ route }) => /browser|awaitingSecondFactor/.test(route.access.name)))
    for (const { cells } of differ) expect(cells[session]).toBe('403')
  })

  test('a credential of the vault passes its own surface, and is unknown on every other one', () => {
    for (const surface of ['platform', 'executor', 'claim'] as const) {
      const own = cellsWhere(
        (row) => row.route.endpoint.surface === surface,
        (caller) => caller.surface === surface,
      )
      const elsewhere = cellsWhere(
        (row) => !isOpen(row) && row.route.endpoint.surface !== surface,
        (caller) => caller.surface === surface,
      )
      // A claim is good for what its link was for.
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

  test('a caller of another organization finds nothing there', () => {
    const cells = cellsWhere(ofOrg, (caller) => caller.from === 'foreign')
    expect(cells.length).toBeGreaterThan(100)
    expect(cells.filter((cell) => !ending('404').test(cell))).toEqual([])
  })

  test('a machine client is refused wherever a key or a person is needed', () => {
    const cells = cellsWhere(notForMachines, (caller) => caller.kind === 'machine' && caller.from === 'org')
    expect(cells).toHaveLength(2 * notForMachines.count)
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
    expect(cells).toHaveLength(9 * forHolders.count)
    expect(cells.filter((cell) => !ending('403').test(cell))).toEqual([])
  })

  test('with one, a member passes everything that members may do', () => {
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

  test('a bound token reaches its application: no other, and nothing of the organization that admins manage', () => {
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

  test('an admin token that is bound here manages its application as any other admin token does', () => {
    const [free, bound] = ['admin token', 'admin token bound here'].map((name) =>
      callers.findIndex((caller) => caller.name === name),
    ) as [number, number]
    const own = rows.filter((row) => /\/:(?:appId|envId)/.test(row.title))
    expect(own.length).toBeGreaterThan(20)
    for (const { title, cells } of own) expect([title, cells[bound]]).toEqual([title, cells[free]])
  })
})
